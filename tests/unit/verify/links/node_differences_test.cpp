#include "reconciler/verify/links/node_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NodeDifferencesTest : public testing::Test {
 protected:
  NodeDifferencesTest() {
    for (auto& [name, facts] : sample_.facts.nodes) {
      facts.host = HostFact{.kernel = "6.17.0-1008-nvidia"};
      facts.gpudirect.driver = NvidiaDriver{.open = true, .version = "580.142"};
      facts.hcas["rocep1s0f1"] = {.firmware = "28.45.4028", .board_id = "NVD0000000077"};
      facts.hcas["roceP2p1s0f1"] = {.firmware = "28.45.4028", .board_id = "NVD0000000077"};
    }
  }
  NodeFacts& Node(const NodeName& name) { return sample_.facts.nodes.at(name); }
  std::vector<std::string> Find() const {
    std::vector<std::string> found;
    for (const Check& check : CheckDifferences(sample_.cluster, sample_.facts)) {
      EXPECT_EQ(check.outcome, Outcome::kWarn);
      EXPECT_EQ(check.symptom, Symptom::kVersionsDiffer);
      found.push_back(check.from + ": " + check.measured);
    }
    return found;
  }

  Sample sample_ = OnSwitch(3);
};

TEST_F(NodeDifferencesTest, EqualNodesHaveNoCheck) { EXPECT_THAT(Find(), IsEmpty()); }

TEST_F(NodeDifferencesTest, EachVersionIsNamedWithItsNodes) {
  Node("spark-2").host = HostFact{.kernel = "6.11.0"};
  Node("spark-3").gpudirect.driver = NvidiaDriver{.version = "580.95.05"};
  EXPECT_THAT(Find(), ElementsAre("spark-2: kernel: 6.17.0-1008-nvidia on spark-1, spark-3; 6.11.0 "
                                  "on spark-2",
                                  "spark-3: NVIDIA driver: 580.142 on spark-1, spark-2; 580.95.05 "
                                  "on spark-3"));
}

TEST_F(NodeDifferencesTest, FirmwareIsComparedBetweenBoardsOfOneKind) {
  Node("spark-2").hcas["mlx5_9"] = {.firmware = "20.1.0", .board_id = "MT_0000000224"};
  EXPECT_THAT(Find(), IsEmpty());
  Node("spark-2").hcas["rocep1s0f1"].firmware = "28.43.2026";
  EXPECT_THAT(Find(), ElementsAre("spark-2: HCA firmware: 28.45.4028 on spark-1, spark-2, spark-3; "
                                  "28.43.2026 on spark-2"));
}

TEST_F(NodeDifferencesTest, BiosAndIommuAreComparedBetweenMachinesOfOneModel) {
  for (const char* name : {"spark-1", "spark-2", "spark-3"}) {
    Node(name).host = HostFact{.product = "GX10", .vendor = "ASUSTeK", .bios = "0104"};
    Node(name).hcas["rocep1s0f1"].iommu = "DMA-FQ";
  }
  EXPECT_THAT(Find(), IsEmpty());
  Node("spark-3").host = HostFact{.product = "Spark", .vendor = "NVIDIA", .bios = "5.36"};
  EXPECT_THAT(Find(), IsEmpty());
  Node("spark-2").host = HostFact{.product = "GX10", .vendor = "ASUSTeK", .bios = "0103"};
  Node("spark-2").hcas["rocep1s0f1"].iommu = "DMA";
  EXPECT_THAT(Find(), ElementsAre("spark-1: BIOS: 0104 on spark-1; 0103 on spark-2",
                                  "spark-1: IOMMU mode: DMA-FQ on spark-1; DMA on spark-2"));
}

TEST_F(NodeDifferencesTest, AnotherKindOfMachineAndWhatIsNotKnownAreNoDifference) {
  sample_.cluster.nodes[1].hardware = "workstation";
  Node("spark-2").host = HostFact{.kernel = "6.1.0"};
  Node("spark-3").host = Unknown{"no uname"};
  Node("spark-3").gpudirect.driver = Absent{};
  EXPECT_THAT(Find(), IsEmpty());
}

TEST_F(NodeDifferencesTest, TheFindingIsAWarningWithItsNextStep) {
  Node("spark-2").host = HostFact{.kernel = "6.11.0"};
  const std::vector<Check> checks = CheckDifferences(sample_.cluster, sample_.facts);
  const std::vector<Finding> findings =
      Diagnose(sample_.cluster, sample_.fabric, sample_.facts, checks, {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "versions-differ");
  EXPECT_EQ(findings[0].outcome, Outcome::kWarn);
  EXPECT_EQ(
      findings[0].cause,
      "the kernel is not the same everywhere: an update was not installed on all nodes or boards");
  EXPECT_EQ(findings[0].next_step, "install the same updates on all nodes and restart them");
  EXPECT_EQ(FindExitCode({.checks = checks, .findings = findings}), 0);
}

}  // namespace
}  // namespace reconciler
