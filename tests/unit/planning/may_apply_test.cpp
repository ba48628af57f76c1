#include "reconciler/planning/may_apply.h"

#include <gtest/gtest.h>

#include "reconciler/planning/plan_maker.h"

namespace reconciler {
namespace {

ClusterSpec PairAt(int first_line, int second_line) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "lab"};
  cluster.nodes = {
      {.name = "spark-1", .id = 1, .address = "10.0.0.1", .position = {first_line, 5}},
      {.name = "spark-2", .id = 2, .address = "10.0.0.2", .position = {second_line, 5}}};
  return cluster;
}

ClusterFacts FactsWithLedger(const Observed<Ledger>& ledger) {
  ClusterFacts facts;
  facts.nodes["spark-1"] = {.node = "spark-1", .ledger = ledger};
  return facts;
}

ClusterFacts FactsOfMachines(const HostFact& first, const HostFact& second) {
  ClusterFacts facts;
  facts.nodes["spark-1"] = {.node = "spark-1", .host = first};
  facts.nodes["spark-2"] = {.node = "spark-2", .host = second};
  return facts;
}

std::string FormatAll(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& one : diagnostics) text += FormatDiagnostic(one);
  return text;
}

TEST(MayApply, ANodeOfAnotherClusterIsRefused) {
  EXPECT_EQ(
      FormatErrors(CheckMayApply(PairAt(4, 5), FactsWithLedger(Ledger{.cluster = "other"}), true)),
      "spark-1: this node belongs to cluster 'other', wanted 'lab'\n"
      "  hint: uninstall it there first; if the cluster was renamed, write `moved: {cluster: "
      "other}`\n");
  ClusterSpec renamed = PairAt(4, 5);
  renamed.former_name = "other";
  EXPECT_TRUE(CheckMayApply(renamed, FactsWithLedger(Ledger{.cluster = "other"}), true).empty());
}

TEST(MayApply, ALedgerThatCannotBeReadIsRefused) {
  ClusterFacts facts;
  facts.nodes["spark-1"] = {.node = "spark-1", .ledger = Unknown{"not valid JSON"}};
  EXPECT_EQ(FormatErrors(CheckMayApply(PairAt(4, 5), facts, true)),
            "spark-1: /var/lib/spark-reconcile/ledger.json: not valid JSON\n"
            "  hint: it holds the originals: repair it, or move it away to start without them\n");
}

TEST(MayApply, ALedgerOfAnotherVersionIsLeftToThatVersion) {
  const auto ledger = ParseLedger(R"({"format": "spark-reconcile/ledger/2"})");
  ASSERT_FALSE(ledger);
  EXPECT_EQ(FormatErrors(CheckMayApply(PairAt(4, 5),
                                       FactsWithLedger(Unknown{ledger.error().message}), true)),
            "spark-1: /var/lib/spark-reconcile/ledger.json: /format: wanted "
            "\"spark-reconcile/ledger/1\", found \"spark-reconcile/ledger/2\"\n"
            "  hint: use the version of spark-reconcile that wrote it, or a later one\n");
}

TEST(MayApply, ANodeThatTheManifestLostIsRefusedUnlessAllowed) {
  const ClusterFacts facts =
      FactsWithLedger(Ledger{.cluster = "lab", .nodes = {{"spark-3", 3, "10.0.0.3"}}});
  EXPECT_EQ(FormatErrors(CheckMayApply(PairAt(4, 5), facts, false)),
            "spark-3 (10.0.0.3) was applied to and is no longer in cluster.yaml\n"
            "  hint: run `uninstall --node spark-3` with the old manifest first, then give "
            "--allow-node-removal; if it was renamed, write `moved: {nodes: {spark-3: NEW}}`\n");
  EXPECT_TRUE(CheckMayApply(PairAt(4, 5), facts, true).empty());
}

TEST(MayApply, ANodeThatTheManifestLostIsDriftUntilAPersonAcceptsIt) {
  const ClusterFacts facts =
      FactsWithLedger(Ledger{.cluster = "lab", .nodes = {{"spark-3", 3, "10.0.0.3"}}});
  const auto plan_with = [&](const PlanScope& scope) {
    return *MakePlan(PairAt(4, 5), Fabric(), facts, {}, scope);
  };
  const Plan plan = plan_with({});
  EXPECT_TRUE(plan.IsPending());
  EXPECT_FALSE(plan.IsRefused());
  EXPECT_EQ(FormatAll(plan.diagnostics),
            "warning: spark-3 (10.0.0.3) was applied to and is no longer in the manifest: nothing "
            "is done about it [plan-node-removed]\n"
            "  next step: add it to the manifest again, or give apply --allow-node-removal\n");
  EXPECT_EQ(plan_with({.allow_node_removal = true}).WarningCount(), 0u);
  EXPECT_EQ(plan_with({.uninstall = true}).WarningCount(), 0u);
}

TEST(ExplainRefusal, IsWhatApplySaysOfAPlanThatItRefusesAsAWhole) {
  const ClusterFacts lost =
      FactsWithLedger(Ledger{.cluster = "lab", .nodes = {{"spark-3", 3, "10.0.0.3"}}});
  const Plan blocked{.diagnostics = {{.severity = Severity::kBlocks,
                                      .code = "values-zero",
                                      .message = "wanted 2, found 0",
                                      .nodes = {"spark-1"}},
                                     {.severity = Severity::kWarns, .code = "values-one"}}};
  EXPECT_EQ(ExplainRefusal(PairAt(4, 5), lost, blocked),
            "spark-3 (10.0.0.3) was applied to and is no longer in cluster.yaml\n"
            "  hint: run `uninstall --node spark-3` with the old manifest first, then give "
            "--allow-node-removal; if it was renamed, write `moved: {nodes: {spark-3: NEW}}`\n");
  EXPECT_EQ(ExplainRefusal(PairAt(4, 5), {}, blocked),
            "error: spark-1: wanted 2, found 0 [values-zero]\n");
  Plan fine = blocked;
  fine.diagnostics.erase(fine.diagnostics.begin());
  EXPECT_EQ(ExplainRefusal(PairAt(4, 5), {}, fine), "");
}

TEST(MayApply, BareNodesAreNoReasonToRefuse) {
  ClusterFacts facts;
  facts.nodes["spark-1"] = {.node = "spark-1"};
  EXPECT_TRUE(CheckMayApply(PairAt(4, 5), facts, false).empty());
}

TEST(MayApply, OneMachineUnderTwoNamesIsRefusedWithBothLines) {
  const HostFact host{.machine_id = "3d12", .boot_id = "77aa"};
  EXPECT_EQ(FormatErrors(CheckMayApply(PairAt(4, 5), FactsOfMachines(host, host), true)),
            "cluster.yaml:5:5: spark-1, spark-2: wanted two machines, found one at 10.0.0.1 and "
            "10.0.0.2 (machine id 3d12), first named at cluster.yaml:4\n"
            "  hint: give each node the address of its own machine\n");
}

TEST(MayApply, ClonesAndContainersAreMachinesOfTheirOwn) {
  const HostFact host{.machine_id = "3d12", .boot_id = "77aa"};
  for (const HostFact& other : {HostFact{.machine_id = "3d12", .boot_id = "88bb"},
                                HostFact{.machine_id = "4e23", .boot_id = "77aa"}}) {
    EXPECT_TRUE(CheckMayApply(PairAt(4, 5), FactsOfMachines(host, other), true).empty());
  }
  EXPECT_TRUE(CheckMayApply(PairAt(4, 5), FactsOfMachines({}, {}), true).empty());
}

TEST(MayApply, WhatForbidsAnApplyIsSaidByThePlan) {
  const HostFact host{.machine_id = "3d12", .boot_id = "77aa"};
  ClusterFacts facts = FactsOfMachines(host, host);
  facts.nodes["spark-1"].ledger = Unknown{"not valid JSON"};
  facts.nodes["spark-2"].ledger = Ledger{.cluster = "other"};
  const auto plan = MakePlan(PairAt(4, 5), Fabric(), facts, {}, {});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->IsRefused());
  EXPECT_TRUE(plan->IsPending());
  EXPECT_EQ(
      FormatAll(plan->diagnostics),
      "error: spark-1: /var/lib/spark-reconcile/ledger.json: not valid JSON "
      "[plan-ledger-unreadable]\n"
      "  next step: it holds the originals: repair it, or move it away to start without them\n"
      "error: spark-2: this node belongs to cluster 'other', wanted 'lab' [plan-other-cluster]\n"
      "  next step: uninstall it there first; if the cluster was renamed, write `moved: {cluster: "
      "other}`\n"
      "error: spark-1, spark-2: wanted two machines, found one at 10.0.0.1 and 10.0.0.2 (machine "
      "id 3d12), first named at cluster.yaml:4 [plan-same-machine]  cluster.yaml:5\n"
      "  next step: give each node the address of its own machine\n");
}

}  // namespace
}  // namespace reconciler
