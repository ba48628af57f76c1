#include "reconciler/planning/unfinished.h"

#include <gtest/gtest.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr char kCutOff[] = "1b65abcd-202611222357015e31a7d0";

ClusterFacts FactsWithAnUnfinishedApply() {
  ClusterFacts facts;
  for (const char* node : {"spark-1", "spark-2", "spark-3"}) facts.nodes[node].node = node;
  facts.nodes["spark-1"].apply.undecided = {kCutOff};
  facts.nodes["spark-2"].apply.undecided = {kCutOff, "0a49-11"};
  return facts;
}

TEST(NameApply, SaysTheTimeThatIsInTheId) {
  EXPECT_EQ(NameApply(kCutOff), "apply 1b65abcd of 2026-11-22 23:57 UTC");
  EXPECT_EQ(NameApply("1b65abcd-5e31a7d0"), "apply 1b65abcd-5e31a7d0");
  EXPECT_EQ(NameApply("1b65abcd"), "apply 1b65abcd");
  EXPECT_EQ(NameApply("\x1b[2J"), "apply " + MakePrintable("\x1b[2J"));
}

TEST(ListUnfinished, NamesEachApplyOnceWithItsNodes) {
  EXPECT_EQ(
      ListUnfinished(FactsWithAnUnfinishedApply()),
      (std::vector<std::string>{
          "spark-2: apply 0a49-11 is unfinished; apply ends it first",
          "spark-1, spark-2: apply 1b65abcd of 2026-11-22 23:57 UTC is unfinished; apply ends "
          "it first"}));
}

TEST(DiagnoseUnfinished, SaysInAPlanWhatApplyWillDoFirst) {
  const auto found = DiagnoseUnfinished(FactsWithAnUnfinishedApply(), {"spark-1"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(FormatDiagnostic(found[0]),
            "note: spark-1: apply 1b65abcd of 2026-11-22 23:57 UTC is unfinished; apply ends it "
            "first [plan-apply-unfinished]\n");
}

TEST(DiagnoseUnfinished, AnApplyThatIsRunningIsNotUnfinished) {
  ClusterFacts facts = FactsWithAnUnfinishedApply();
  for (auto& [name, node] : facts.nodes) node.apply.lease = "ada@desk";
  EXPECT_TRUE(DiagnoseUnfinished(facts, {}).empty());
}

}  // namespace
}  // namespace reconciler
