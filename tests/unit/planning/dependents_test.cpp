#include "reconciler/planning/dependents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/planning/plan_maker.h"

namespace reconciler {
namespace {

using testing::ElementsAre;

Change MakeDue(const NodeName& node, const std::string& kind, const std::string& name) {
  return {.kind = kind,
          .name = name,
          .node = node,
          .detail = "due",
          .actions = {RunCommand{{"run"}}},
          .triggers = {RunCommand{{"reload"}}}};
}

Change MakeBlockedPort(const NodeName& node, const std::string& name) {
  return {.change = ChangeKind::kBlocked,
          .kind = "link",
          .name = name,
          .is_link = true,
          .node = node,
          .detail = "another file configures it; a long text about that",
          .code = "netplan-foreign-file"};
}

std::vector<std::string> ListDetails(const Plan& plan) {
  std::vector<std::string> details;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) details.push_back(change.detail);
  }
  return details;
}

TEST(BlockDependents, WhatNeedsABlockedChangeOfAnyNodeIsBlockedWithoutItsWholeReason) {
  Plan plan{.stages = {{.changes = {MakeDue("spark-1", "file", "/etc/x")}},
                       {.changes = {MakeBlockedPort("spark-2", "p0")}}}};
  BlockDependents({{"spark-1/file//etc/x", {"spark-1/link/p0", "spark-2/link/p0"}}}, {}, plan);
  const Change& held = plan.stages[0].changes[0];
  EXPECT_EQ(held.change, ChangeKind::kBlocked);
  EXPECT_EQ(held.code, "plan-need-blocked");
  EXPECT_EQ(held.detail, "needs p0 of spark-2, which is blocked");
  EXPECT_TRUE(held.actions.empty() && held.triggers.empty());
}

TEST(BlockDependents, WhatNeedsSomethingHeldIsHeldToo) {
  Plan plan{
      .stages = {{.changes = {MakeDue("spark-1", "a", "first"), MakeDue("spark-1", "z", "second"),
                              MakeBlockedPort("spark-1", "p0")}}}};
  BlockDependents(
      {{"spark-1/a/first", {"spark-1/z/second"}}, {"spark-1/z/second", {"spark-1/link/p0"}}}, {},
      plan);
  EXPECT_THAT(ListDetails(plan), ElementsAre("needs second of spark-1, which is blocked",
                                             "needs p0 of spark-1, which is blocked",
                                             plan.stages[0].changes[2].detail));
}

TEST(BlockDependents, WhatNeedsNothingBlockedIsNotHeld) {
  Plan plan{
      .stages = {
          {.changes = {MakeDue("spark-1", "file", "/etc/x"), MakeDue("spark-1", "link", "p0"),
                       MakeDue("spark-1", "file", "/etc/y"), MakeBlockedPort("spark-1", "p1")}}}};
  // A port that holds, and one of a node that is not in the plan, have no change.
  BlockDependents(
      {{"spark-1/file//etc/x", {"spark-1/link/p0", "spark-1/link/p2", "spark-3/link/p0"}}}, {},
      plan);
  EXPECT_THAT(ListDetails(plan),
              ElementsAre("due", "due", "due", plan.stages[0].changes[3].detail));
}

TEST(BlockDependents, ABlockedChangeKeepsItsOwnReason) {
  Plan plan{.stages = {
                {.changes = {MakeBlockedPort("spark-1", "p0"), MakeBlockedPort("spark-1", "p1")}}}};
  const Plan before = plan;
  BlockDependents({{"spark-1/link/p0", {"spark-1/link/p1"}}}, {}, plan);
  EXPECT_EQ(plan, before);
}

// What it would remove is in use until what it needs is there.
TEST(BlockDependents, APruneThatNeedsSomethingHeldIsHeldAndHoldsNothing) {
  Change prune = MakeDue("spark-1", "build", "former");
  prune.prune = true;
  Plan plan{.stages = {{.changes = {prune, MakeDue("spark-1", "file", "/etc/x"),
                                    MakeDue("spark-1", "file", "/etc/y"),
                                    MakeBlockedPort("spark-1", "p0")}}}};
  BlockDependents({{"spark-1/build/former", {"spark-1/file//etc/x"}},
                   {"spark-1/file//etc/x", {"spark-1/link/p0"}},
                   {"spark-1/file//etc/y", {"spark-1/build/former"}}},
                  {}, plan);
  EXPECT_THAT(ListDetails(plan), ElementsAre("needs /etc/x of spark-1, which is blocked",
                                             "needs p0 of spark-1, which is blocked", "due",
                                             plan.stages[0].changes[3].detail));
  EXPECT_EQ(plan.stages[0].changes[0].code, "plan-need-blocked");
}

// It would wait for it in every pass of the apply.
TEST(BlockDependents, WhatIsKnownAfterAChangeThatOnlyLeavesOutIsHeld) {
  Change package = MakeDue("spark-1", "package", "git");
  package.plugin = "packages";
  Change build = MakeDue("spark-1", "nccl", "build");
  build.plugin = "nccl";
  Change script = MakeDue("spark-1", "file", "/etc/x");
  script.plugin = "nccl";
  build.deferred = true;
  const Needs needs = {{"spark-1/nccl/build", {"spark-1/package/git"}},
                       {"spark-1/file//etc/x", {"spark-1/package/git"}}};
  Plan plan{.only = {"nccl"}, .stages = {{.changes = {package, build, script}}}};
  BlockDependents(needs, {}, plan);
  EXPECT_THAT(ListDetails(plan),
              ElementsAre("due", "needs git of spark-1, which --only leaves out", "due"));
  Plan whole{.stages = {{.changes = {package, build, script}}}};
  BlockDependents(needs, {}, whole);
  EXPECT_THAT(ListDetails(whole), ElementsAre("due", "due", "due"));
}

// A unit that shall be off, and is not there: its package may start it.
TEST(BlockDependents, WhatNeedsNothingDoneIsNotHeldWhereNothingThatItNeedsIsCarriedOut) {
  Change first = MakeDue("spark-1", "package", "first");
  first.plugin = "packages";
  Change second = MakeDue("spark-1", "package", "second");
  second.plugin = "packages";
  Change unit = MakeDue("spark-1", "unit", "off.service");
  unit.plugin = "units";
  unit.deferred = true;
  const Needs needs = {{unit.Id(), {first.Id(), second.Id()}}};
  Plan without{.only = {"units"}, .stages = {{.changes = {first, second}}, {.changes = {unit}}}};
  BlockDependents(needs, {}, without, {unit.Id()});
  EXPECT_EQ(without.stages.size(), 1u);
  Plan due{.stages = {{.changes = {first, second, unit}}}};
  BlockDependents(needs, {}, due, {unit.Id()});
  EXPECT_THAT(ListDetails(due), ElementsAre("due", "due", "due"));
  Block(first, "a", "blocked");
  Plan half{.stages = {{.changes = {first, second, unit}}}};
  BlockDependents(needs, {}, half, {unit.Id()});
  EXPECT_THAT(ListDetails(half),
              ElementsAre("blocked", "due", "needs first of spark-1, which is blocked"))
      << "the second one may start it";
  Block(second, "a", "blocked");
  Plan blocked{.stages = {{.changes = {first, second, unit}}}};
  BlockDependents(needs, {}, blocked, {unit.Id()});
  EXPECT_THAT(ListDetails(blocked), ElementsAre("blocked", "blocked"));
}

TEST(BlockDependents, NeedsThatFormACircleHoldNothingAlone) {
  Plan plan{.stages = {{.changes = {MakeDue("spark-1", "a", "first"),
                                    MakeDue("spark-1", "z", "second")}}}};
  BlockDependents(
      {{"spark-1/a/first", {"spark-1/z/second"}}, {"spark-1/z/second", {"spark-1/a/first"}}}, {},
      plan);
  EXPECT_THAT(ListDetails(plan), ElementsAre("due", "due"));
}

Change MakeDuePort(const NodeName& node) {
  Change port = MakeDue(node, "link", "p0");
  port.is_link = true;
  return port;
}

Segment MakeSegment(std::vector<NodeName> nodes) {
  Segment segment;
  for (const NodeName& node : nodes) segment.ports.push_back({.node = node, .netdev = "p0"});
  return segment;
}

TEST(BlockDependents, BothEndsOfACableAreBlockedAndWhatNeedsThem) {
  Plan plan{.stages = {{.changes = {MakeDuePort("spark-1"), MakeDue("spark-1", "file", "/etc/x"),
                                    MakeBlockedPort("spark-2", "p0")}}}};
  BlockDependents({{"spark-1/file//etc/x", {"spark-1/link/p0"}}},
                  {MakeSegment({"spark-1", "spark-2"})}, plan);
  EXPECT_THAT(ListDetails(plan), ElementsAre("spark-2's p0 at the other end is blocked",
                                             "needs p0 of spark-1, which is blocked",
                                             plan.stages[0].changes[2].detail));
  EXPECT_EQ(plan.stages[0].changes[0].code, "plan-other-end-blocked");
}

TEST(BlockDependents, AnEndThatHoldsIsNotBlockedWithTheOther) {
  Plan plan{.stages = {{.changes = {MakeBlockedPort("spark-2", "p0")}}}};
  const Plan before = plan;
  BlockDependents({}, {MakeSegment({"spark-1", "spark-2"})}, plan);
  EXPECT_EQ(plan, before);
}

TEST(BlockDependents, OnASwitchOneBlockedNodeBlocksNoOther) {
  Plan plan{.stages = {{.changes = {MakeDuePort("spark-1"), MakeDuePort("spark-3"),
                                    MakeBlockedPort("spark-2", "p0")}}}};
  const Plan before = plan;
  BlockDependents({}, {MakeSegment({"spark-1", "spark-2", "spark-3"})}, plan);
  EXPECT_EQ(plan, before);
}

// What returns to its original is refused by the half-cable check, which an option permits.
TEST(BlockDependents, APrunedEndIsNotBlockedWithTheOther) {
  Plan plan{.stages = {{.changes = {MakeDuePort("spark-1"), MakeBlockedPort("spark-2", "p0")}}}};
  plan.stages[0].changes[0].prune = true;
  const Plan before = plan;
  BlockDependents({}, {MakeSegment({"spark-1", "spark-2"})}, plan);
  EXPECT_EQ(plan, before);
}

// A port that cannot be read, a file that holds where `session.interface` is set, and a value that
// the file's trigger sets.
std::vector<Resource> WantPortAndFile(const PluginInput& input) {
  const auto make = [&](const std::string& kind, const std::string& name) {
    return Resource{.kind = kind, .name = name, .node = input.node.name};
  };
  Resource port = make("link", "p0");
  port.desired = ResourceState("up");
  port.observed = Unknown{"ip failed"};
  Resource file = make("file", "/etc/x");
  file.desired = ResourceState(FileState{"x\n"});
  if (!input.facts.session.interface.empty()) file.observed = ResourceState(FileState{"x\n"});
  file.triggers = {RunCommand{.argv = {"reload"}, .id = "reload"}};
  file.needs = {port.Id()};
  Resource value = make("value", "v");
  value.desired = ResourceState("1");
  value.observed = ResourceState("1");
  value.triggers = file.triggers;
  return {port, file, value};
}

class NeedsInAPlan : public testing::Test {
 protected:
  NeedsInAPlan() { facts_.nodes["spark-1"] = {.node = "spark-1"}; }

  Plan Make(const PlanScope& scope = {}) const {
    return *MakePlan({.name = "lab", .nodes = {{.name = "spark-1"}}}, {}, facts_,
                     {{.name = "ports", .resources = WantPortAndFile}}, scope);
  }

  ClusterFacts facts_;
};

TEST_F(NeedsInAPlan, AFileThatNeedsAnUnreadablePortIsHeldAndSetsNothing) {
  const Plan plan = Make();
  EXPECT_THAT(ListDetails(plan),
              ElementsAre("unknown: ip failed", "needs p0 of spark-1, which is blocked"));
  EXPECT_TRUE(plan.stages[0].held.empty());  // the trigger that sets the value does not run
  EXPECT_TRUE(plan.Empty());
}

TEST_F(NeedsInAPlan, WhatHoldsAlreadyIsNotBlockedByWhatItNeeds) {
  facts_.nodes["spark-1"].session.interface = "enP7s7";
  EXPECT_THAT(ListDetails(Make()), ElementsAre("unknown: ip failed"));
}

// A port of spark-1 that is due, and of spark-2 one that cannot be read.
std::vector<Resource> WantCable(const PluginInput& input) {
  Resource port{.kind = "link", .name = "p0", .is_link = true, .node = input.node.name};
  port.desired = ResourceState("up");
  port.observed = ResourceState("down");
  if (input.node.name == "spark-2") port.observed = Unknown{"ip failed"};
  return {port};
}

TEST(CableInAPlan, OneEndIsPlannedAloneOnlyWhereThatIsAllowedAndThePlanSaysSo) {
  const ClusterSpec cluster{.name = "lab", .nodes = {{.name = "spark-1"}, {.name = "spark-2"}}};
  const Fabric fabric{.segments = {MakeSegment({"spark-1", "spark-2"})}};
  const ClusterFacts facts{
      .nodes = {{"spark-1", {.node = "spark-1"}}, {"spark-2", {.node = "spark-2"}}}};
  const auto make = [&](const PlanScope& scope) {
    return *MakePlan(cluster, fabric, facts, {{.name = "ports", .resources = WantCable}}, scope);
  };
  EXPECT_EQ(make({}).ChangeCount(), 0u);
  const Plan alone = make({.nodes = {"spark-1"}});
  EXPECT_EQ(alone.ChangeCount(), 1u);
  ASSERT_EQ(alone.diagnostics.size(), 1u);
  EXPECT_EQ(alone.diagnostics[0].message,
            "p0 would change, and spark-2 at the other end stays as it is: it is not part of this "
            "apply");
  const Plan allowed = make({.allow_half_cables = true});
  EXPECT_EQ(allowed.ChangeCount(), 1u);
  EXPECT_EQ(allowed.WarningCount(), 0u);
  EXPECT_NE(allowed.id, make({}).id);
}

// What only the other plugin wants: a value that needs the file, and one that needs nothing.
std::vector<Resource> WantValues(const PluginInput& input) {
  Resource value{.kind = "value", .name = "a", .node = input.node.name};
  value.desired = ResourceState("1");
  Resource other = value;
  other.name = "b";
  value.needs = {input.node.name + "/file//etc/x"};
  return {value, other};
}

TEST_F(NeedsInAPlan, WhatOnlyLeavesOutHoldsUpWhatNeedsItAndIsNotInThePlan) {
  const auto make = [&](const PlanScope& scope) {
    return *MakePlan({.name = "lab", .nodes = {{.name = "spark-1"}}}, {}, facts_,
                     {{.name = "ports", .resources = WantPortAndFile},
                      {.name = "values", .after = {"ports"}, .resources = WantValues}},
                     scope);
  };
  EXPECT_THAT(ListDetails(make({})),
              ElementsAre("unknown: ip failed", "needs p0 of spark-1, which is blocked",
                          "needs /etc/x of spark-1, which is blocked", "1"));
  const Plan plan = make({.only = {"values"}});
  EXPECT_THAT(ListDetails(plan), ElementsAre("needs /etc/x of spark-1, which is blocked: needs p0 "
                                             "of spark-1, which is blocked: unknown: ip failed",
                                             "1"));
  ASSERT_EQ(plan.stages.size(), 1u);
  EXPECT_THAT(plan.stages[0].plugins, ElementsAre("values"));
  EXPECT_EQ(plan.BlockedCount(), 1u);
  EXPECT_EQ(plan.diagnostics.size(), 1u);
  EXPECT_EQ(make({.only = {"ports"}}).BlockedCount(), 2u);
}

// Known after the value of another plugin, and otherwise "off", which it is.
std::vector<Resource> WantOffOrKnownLater(const PluginInput& input) {
  Resource off{.kind = "unit", .name = "off", .node = input.node.name};
  off.desired = KnownAfterApply{"off", ResourceState("off")};
  off.observed = ResourceState("off");
  off.needs = {input.node.name + "/value/b"};
  Resource on = off;
  on.name = "on";
  on.desired = KnownAfterApply{"on", ResourceState("on")};
  return {off, on};
}

TEST_F(NeedsInAPlan, WhatIsAsItShallBeIsNotHeldByWhatOnlyLeavesOut) {
  const auto make = [&](const PlanScope& scope) {
    return *MakePlan({.name = "lab", .nodes = {{.name = "spark-1"}}}, {}, facts_,
                     {{.name = "ports", .resources = WantPortAndFile},
                      {.name = "values", .after = {"ports"}, .resources = WantValues},
                      {.name = "units", .after = {"values"}, .resources = WantOffOrKnownLater}},
                     scope);
  };
  EXPECT_THAT(ListDetails(make({.only = {"units"}})),
              ElementsAre("needs b of spark-1, which --only leaves out"));
  EXPECT_THAT(ListDetails(make({.only = {"values", "units"}})),
              testing::IsSupersetOf({"known after apply: off", "known after apply: on"}));
}

// Each stands at its own change, so that the one text with a next step is printed once.
TEST_F(NeedsInAPlan, TheDiagnosticOfWhatIsHeldHasNoNextStepOfItsOwn) {
  const Plan plan = Make();
  ASSERT_EQ(plan.diagnostics.size(), 2u);
  EXPECT_EQ(plan.diagnostics[1].code, "plan-need-blocked");
  EXPECT_EQ(plan.diagnostics[1].change, "file//etc/x");
  EXPECT_EQ(plan.diagnostics[1].next_step, "");
}

}  // namespace
}  // namespace reconciler
