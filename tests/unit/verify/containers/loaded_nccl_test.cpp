#include "reconciler/verify/containers/loaded_nccl.h"

#include <gmock/gmock.h>

#include "tests/unit/verify/links/health_sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LoadedNcclTest : public testing::Test {
 protected:
  LoadedNcclTest() {
    for (auto& [name, facts] : sample_.facts.nodes) {
      facts.nccl.library = NcclLibrary{.path = "/usr/lib/libnccl.so.2", .version = "2.28.9"};
      Load(name, {{"0123456789ab", "/opt/libnccl.so.2", "2.28.9"}});
    }
  }

  void Load(const NodeName& node, std::vector<LoadedNccl> libraries) {
    sample_.facts.nodes.at(node).health.loaded_nccl = std::move(libraries);
  }
  std::vector<Check> Checks() const {
    return CheckLoadedNccl(sample_.cluster, sample_.fabric, sample_.facts);
  }
  std::vector<std::string> Found() const { return DescribeFindings(sample_, Checks()); }

  Sample sample_ = HealthyPair();
};

TEST_F(LoadedNcclTest, OneVersionEverywhereIsWell) {
  EXPECT_THAT(Checks(), IsEmpty());
  for (auto& [name, facts] : sample_.facts.nodes) facts.health.loaded_nccl = {};
  EXPECT_THAT(Checks(), IsEmpty());
}

TEST_F(LoadedNcclTest, AVersionBehindThatOfTheNodeIsTooOld) {
  Load("spark-2", {{"aaaabbbbcccc", "/opt/a/libnccl.so.2", "2.27.7"},
                   {"aaaabbbbcccc", "/opt/b/libnccl.so.2", "2.26.2"},
                   {"ddddeeeeffff", "/opt/libnccl.so.2", "2.28.9"}});
  const auto findings = ListFindings(sample_, Checks());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "container-nccl-old");
  EXPECT_THAT(findings[0].nodes, ElementsAre("spark-2"));
  EXPECT_EQ(findings[0].expected, "NCCL 2.28.9 or later, which programs on the node load");
  EXPECT_EQ(findings[0].measured,
            "container aaaabbbbcccc: NCCL 2.27.7 (/opt/a/libnccl.so.2), NCCL 2.26.2 "
            "(/opt/b/libnccl.so.2)");
  EXPECT_EQ(findings[0].next_step,
            "start container aaaabbbbcccc of spark-2 from a newer image, or mount the node's "
            "libnccl.so.2 into it and name it in LD_PRELOAD");
}

TEST_F(LoadedNcclTest, CablesThatNeedSubnetsNeedThemInContainersToo) {
  sample_.fabric = Ring().fabric;
  EXPECT_THAT(Found(),
              ElementsAre("container-nccl-old spark-1: container 0123456789ab: NCCL 2.28.9 "
                          "(/opt/libnccl.so.2)",
                          "container-nccl-old spark-2: container 0123456789ab: NCCL 2.28.9 "
                          "(/opt/libnccl.so.2)"));
  for (const char* node : {"spark-1", "spark-2"}) {
    Load(node, {{"0123456789ab", "/opt/libnccl.so.2", "2.28.9", true}});
  }
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(LoadedNcclTest, NodesWithoutAVersionInCommonDiffer) {
  Load("spark-2", {{"ddddeeeeffff", "/opt/libnccl.so.2", "2.30.7"}});
  EXPECT_THAT(Found(), ElementsAre("container-nccl-differs spark-1: NCCL 2.28.9 on spark-1; 2.30.7 "
                                   "on spark-2"));
  // Another job beside the one that both have.
  Load("spark-2", {{"ddddeeeeffff", "/opt/libnccl.so.2", "2.30.7"},
                   {"0123456789ab", "/opt/libnccl.so.2", "2.28.9"}});
  EXPECT_THAT(Found(), IsEmpty());
  // A node without such a container has none to differ in.
  Load("spark-2", {});
  EXPECT_THAT(Found(), IsEmpty());
}

}  // namespace
}  // namespace reconciler
