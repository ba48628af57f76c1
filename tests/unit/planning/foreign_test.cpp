#include "reconciler/planning/foreign.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/base/mark.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/diff.h"
#include "reconciler/planning/plan_maker.h"
#include "reconciler/planning/text/render.h"
#include "tests/support/plan_values.h"

namespace reconciler {
namespace {

constexpr std::string_view kSecret = "password: hunter2\n";

std::string AllOutputs(const Plan& plan) {
  return Dump(ToJson(HideForeignContent(plan))) + RenderText(plan) + RenderMarkdown(plan);
}

TEST(HideForeignLines, KeepsWhatIsOursAndCountsTheRest) {
  EXPECT_EQ(HideForeignLines(""), "");
  EXPECT_EQ(HideForeignLines("one"), "(1 line that is not ours)\n");
  EXPECT_EQ(HideForeignLines("one\n\nthree\n"), "(3 lines that are not ours)\n");
  const std::string owned = FormatOwnedFile("lab", "body\n") + "edited\n";
  EXPECT_EQ(HideForeignLines(owned), owned);
  EXPECT_EQ(HideForeignLines("127.0.0.1 localhost\n# BEGIN spark-reconcile lab hosts\n10.0.0.1 a\n"
                             "# END spark-reconcile lab hosts\nx\ny\n"),
            "(1 line that is not ours)\n# BEGIN spark-reconcile lab hosts\n10.0.0.1 a\n"
            "# END spark-reconcile lab hosts\n(2 lines that are not ours)\n");
}

TEST(HideForeignLines, ABeginMarkerWithoutItsEndShowsNothing) {
  EXPECT_EQ(HideForeignLines("# BEGIN spark-reconcile lab hosts\nsecret\n"
                             "# END spark-reconcile lab other\n"),
            "(3 lines that are not ours)\n");
}

TEST(Plan, ABlockedChangeKeepsNothingOfTheForeignFile) {
  const Resource resource{.kind = "file",
                          .name = "/etc/netplan/60-spark-reconcile.yaml",
                          .node = "spark-1",
                          .desired = ResourceState(FileState{.content = "ours\n"}),
                          .observed = ResourceState(FileState{.content = std::string(kSecret)}),
                          .blocked = {"plan-file-not-ours", "was not written by spark-reconcile"}};
  const auto change = Diff(resource, "netplan");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kBlocked);
  EXPECT_FALSE(change->before);
  EXPECT_EQ(AllOutputs(MakePlanWith({*change})).find("hunter2"), std::string::npos);
}

Resource WantABlock() {
  const std::string before = "1.2.3.4 one\n" + std::string(kSecret);
  return {.kind = "file",
          .name = "/etc/hosts",
          .node = "spark-1",
          .desired = ResourceState(FileState{.content = SetBlock(before, "lab", "hosts", "new\n")}),
          .observed = ResourceState(FileState{.content = before})};
}

Plan PlanForASharedFile() {
  Plan plan = MakePlanWith({*Diff(WantABlock(), "hosts")});
  plan.nodes = {{.name = "spark-1"}};
  return plan;
}

TEST(Plan, OfASharedFileOnlyOurBlockIsShown) {
  const Plan plan = PlanForASharedFile();
  const Change& change = plan.stages[0].changes[0];
  EXPECT_EQ(change.detail, "(+3 -0 lines)");
  EXPECT_EQ(change.diff,
            "@@ -1 +1,4 @@\n (2 lines that are not ours)\n+# BEGIN spark-reconcile lab hosts\n"
            "+new\n+# END spark-reconcile lab hosts\n");
  const std::string outputs = AllOutputs(plan);
  EXPECT_EQ(outputs.find("hunter2"), std::string::npos);
  EXPECT_EQ(outputs.find("1.2.3.4"), std::string::npos);
  // What is carried out has every byte of it.
  EXPECT_NE(std::get<WriteFile>(change.actions[0]).state.content.find("hunter2"),
            std::string::npos);
}

TEST(MakePlan, ThePlansIdIsTheDigestOfWhatIsShown) {
  ClusterSpec cluster;
  cluster.nodes = {{.name = "spark-1", .id = 1}};
  ClusterFacts facts;
  facts.nodes["spark-1"].node = "spark-1";
  const Plugin plugin{.name = "hosts", .resources = [](const PluginInput&) {
                        return std::vector<Resource>{WantABlock()};
                      }};
  const auto plan = MakePlan(cluster, Fabric(), facts, {plugin});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->ChangeCount(), 1u);
  const Plan shown = HideForeignContent(*plan);
  EXPECT_NE(shown, *plan);
  EXPECT_EQ(shown.id, plan->id);
  EXPECT_EQ(ComputePlanDigest(shown), plan->id);
}

TEST(HideForeignContent, OfFactsKeepsNoForeignFileAndNoOriginalInALedger) {
  ClusterFacts facts;
  NodeFacts& node = facts.nodes["spark-1"];
  node.files["/etc/netplan/01-wifi.yaml"] = FileState{.content = std::string(kSecret)};
  node.ledger = Ledger{
      .cluster = "lab",
      .entries = {{.kind = "file",
                   .name = "/etc/hosts",
                   .original = {WriteFile{"/etc/hosts", {.content = std::string(kSecret)}}}}}};
  EXPECT_NE(Dump(ToJson(facts)).find("hunter2"), std::string::npos);
  const std::string shown = Dump(ToJson(HideForeignContent(facts)));
  EXPECT_EQ(shown.find("hunter2"), std::string::npos);
  EXPECT_NE(shown.find("(1 line that is not ours)"), std::string::npos);
}

}  // namespace
}  // namespace reconciler
