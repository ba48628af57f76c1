#include "reconciler/verify/options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/verify/environment.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::string_view kManifest = R"(api_version: spark-reconcile/v1
cluster: lab
nodes:
  - {name: spark-1, address: 192.168.1.21}
  - {name: spark-2, address: 192.168.1.22}
fabric:
  topology: direct
  subnets: [192.168.177.0/24, 192.168.178.0/24]
)";

Result<Environment> SetTwo(const PluginInput& input) {
  return Environment{{.name = "A", .value = input.node.name}, {.name = "B", .value = "first"}};
}
Result<Environment> SetAgain(const PluginInput&) {
  return Environment{{.name = "B", .value = "second"}};
}
Result<Environment> FailAlways(const PluginInput&) {
  return Fail({.kind = ErrorKind::kUsage, .message = "no library was found"});
}

class Options : public testing::Test {
 protected:
  Options() { facts_.nodes["spark-1"] = {.node = "spark-1"}; }

  void Read(const std::string& sections) {
    spec_ = *LoadClusterSpec(std::string(kManifest) + sections, "cluster.yaml");
  }

  VerifyOptions Make(const VerifyChoice& choice = {}) {
    return MakeVerifyOptions(spec_, fabric_, facts_, plugins_, choice);
  }

  ClusterSpec spec_ = *LoadClusterSpec(kManifest, "cluster.yaml");
  Fabric fabric_ = *ExpandFabric(spec_);
  ClusterFacts facts_ = {};
  std::vector<Plugin> plugins_ = {};
};

TEST_F(Options, OfAManifestThatSaysNothingGoAsFarAsTheNodesAllow) {
  const VerifyOptions options = Make();
  EXPECT_EQ(options.up_to, VerifyLevel::kNccl);
  EXPECT_TRUE(options.automatic);
  EXPECT_TRUE(options.nccl.brief);
  EXPECT_FALSE(options.rdma.leave_out);
  EXPECT_THAT(options.nccl.libraries, IsEmpty());
}

TEST_F(Options, HaveTheLevelOfTheManifestAndTheLibraryThatItNames) {
  Read("nccl: {library: /opt/nccl/libnccl.so.2}\nverify: {level: nccl, skip: [rdma]}\n");
  const VerifyOptions options = Make();
  EXPECT_EQ(options.up_to, VerifyLevel::kNccl);
  EXPECT_EQ(options.section.level, VerifyLevel::kNccl);
  EXPECT_TRUE(options.rdma.leave_out);
  const std::string library = "/opt/nccl/libnccl.so.2";
  EXPECT_THAT(options.nccl.libraries,
              UnorderedElementsAre(Pair("spark-1", library), Pair("spark-2", library)));
}

TEST_F(Options, AChoiceReachesBothMeasurements) {
  const VerifyOptions options = Make({.programs = "/usr/lib/spark",
                                      .skip_rdma = true,
                                      .nccl_limit_s = 7,
                                      .allow_busy = true,
                                      .keep_program = true});
  EXPECT_EQ(options.rdma.programs, "/usr/lib/spark");
  EXPECT_EQ(options.nccl.programs, "/usr/lib/spark");
  EXPECT_TRUE(options.rdma.leave_out);
  EXPECT_TRUE(options.rdma.keep_program);
  EXPECT_TRUE(options.nccl.keep_program);
  EXPECT_TRUE(options.nccl.allow_busy);
  EXPECT_EQ(options.nccl.phase_s, 7);
}

TEST_F(Options, NcclGetsTheVariablesOfAllPluginsAndOfTwoTheLaterOne) {
  plugins_ = {{.name = "none"},
              {.name = "two", .environment = SetTwo},
              {.name = "again", .environment = SetAgain}};
  const auto variables = Make().nccl.environment(*spec_.FindNode("spark-1"));
  ASSERT_TRUE(variables);
  EXPECT_THAT(*variables, ElementsAre(Pair("A", "spark-1"), Pair("B", "second")));
}

TEST_F(Options, ANodeThatWasNotReadHasNoVariables) {
  plugins_ = {{.name = "bad", .environment = FailAlways}};
  const auto variables = Make().nccl.environment(*spec_.FindNode("spark-2"));
  ASSERT_TRUE(variables);
  EXPECT_THAT(*variables, IsEmpty());
}

TEST_F(Options, WhyVariablesAreNotKnownNamesTheNode) {
  plugins_ = {{.name = "bad", .environment = FailAlways}};
  const auto variables = Make().nccl.environment(*spec_.FindNode("spark-1"));
  ASSERT_FALSE(variables);
  EXPECT_EQ(FormatError(variables.error()), "spark-1: no library was found\n");
}

TEST_F(Options, AContainerGetsTheFlagsThatEnvPrints) {
  plugins_ = {{.name = "two", .environment = SetTwo}};
  const VerifyOptions options = Make();
  const auto flags = options.image_flags(*spec_.FindNode("spark-1"));
  ASSERT_TRUE(flags);
  EXPECT_EQ(*flags, FormatDockerFlags(*SetTwo(
                        {spec_, fabric_, spec_.nodes[0], facts_.nodes.at("spark-1"), facts_})));
  EXPECT_THAT(*flags, testing::HasSubstr("\n--env=A=spark-1\n"));
  plugins_ = {{.name = "bad", .environment = FailAlways}};
  EXPECT_FALSE(options.image_flags(*spec_.FindNode("spark-1")));
}

TEST_F(Options, AnEnvironmentKeepsTheOrderOfThePlugins) {
  plugins_ = {{.name = "again", .environment = SetAgain}, {.name = "two", .environment = SetTwo}};
  const auto all = CollectEnvironment(
      {spec_, fabric_, spec_.nodes[0], facts_.nodes.at("spark-1"), facts_}, plugins_);
  ASSERT_TRUE(all);
  std::vector<std::string> values;
  for (const EnvVariable& one : *all) values.push_back(one.value);
  EXPECT_THAT(values, ElementsAre("second", "spark-1", "first"));
}

TEST_F(Options, ALevelThatIsNamedTakesItsWholeTime) {
  Read("verify: {level: nccl}\n");
  const VerifyOptions options = Make();
  EXPECT_FALSE(options.automatic);
  EXPECT_FALSE(options.nccl.brief);
  EXPECT_EQ(options.rdma.milliseconds, 1000);
}

// A pair has six transfers in a row; eight nodes have seven rounds of them.
TEST_F(Options, ByDefaultAllSendingTakesSixSecondsWhateverTheNumberOfNodes) {
  EXPECT_EQ(Make().rdma.milliseconds, 1000);
  std::string manifest =
      "api_version: spark-reconcile/v1\ncluster: lab\nfabric:\n  topology: switch\n"
      "  subnets: [192.168.177.0/24, 192.168.178.0/24]\nnodes:\n";
  for (int i = 1; i <= 8; ++i) {
    manifest += fmt::format("  - {{name: spark-{}, address: 192.168.1.{}}}\n", i, 20 + i);
    if (i < 2) continue;
    spec_ = *LoadClusterSpec(manifest, "cluster.yaml");
    fabric_ = *ExpandFabric(spec_);
    const int rounds = i % 2 == 0 ? i - 1 : i;
    EXPECT_EQ(Make().rdma.milliseconds, std::max(150, 1000 / rounds)) << i;
  }
}

}  // namespace
}  // namespace reconciler
