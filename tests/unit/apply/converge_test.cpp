#include "reconciler/apply/converge.h"

#include <gtest/gtest.h>

#include "reconciler/fabric/link_local.h"
#include "reconciler/planning/plan_compare.h"
#include "tests/support/fake_transport.h"
#include "tests/support/plan_values.h"

namespace reconciler {
namespace {

// The changes have no actions, so nothing is requested of any node.
ConvergeReport RunConverge(const Plan& plan, std::vector<Plan> replans, const Fabric& fabric = {}) {
  FakeNetwork network({});
  NodePool pool(network.Dialer());
  const ClusterSpec cluster;
  const auto sessions = Sessions::OpenAll({}, pool, "a test");
  std::size_t next = 0;
  return Converge(
      plan, cluster, fabric, **sessions, pool,
      [&](const Trials&) -> Result<Plan> { return replans[std::min(next++, replans.size() - 1)]; },
      [](const Event&) {}, {.before = plan, .between_readings = std::chrono::milliseconds(1)});
}

TEST(Converge, SucceedsOnlyWhenNothingDiffersAfterwards) {
  EXPECT_TRUE(RunConverge(MakePlanWith({Named("/a")}), {MakePlanWith({})}).converged);
}

TEST(Converge, ReadsAgainForAWhileBecauseLinksSettle) {
  EXPECT_TRUE(
      RunConverge(MakePlanWith({Named("/a")}), {MakePlanWith({Named("/a")}), MakePlanWith({})})
          .converged);
}

// A node looks for up to nine seconds whether its link-local address is free.
TEST(Converge, ReadsForLongerWhereARailIsLinkLocal) {
  const Plan differs = MakePlanWith({Named("/a")});
  std::vector<Plan> plans(10, differs);
  plans.push_back(MakePlanWith({}));
  EXPECT_FALSE(RunConverge(differs, plans).converged);
  Fabric fabric;
  fabric.segments.push_back({.subnet = kLinkLocalSubnet});
  EXPECT_TRUE(RunConverge(differs, plans, fabric).converged);
}

TEST(Converge, GivesALinkThatIsBeingConfiguredTimeToBecomeReadable) {
  Change blocked = Named("/a");
  blocked.change = ChangeKind::kBlocked;
  const ConvergeReport report =
      RunConverge(MakePlanWith({Named("/a")}), {MakePlanWith({blocked}), MakePlanWith({})});
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.remaining.BlockedCount(), 0u);
}

TEST(Converge, GivesAWarningThatWasNotThereBeforeTimeToGoAway) {
  Plan warned = MakePlanWith({});
  warned.diagnostics = {
      {.severity = Severity::kWarns, .code = "p-gid", .subject = "a", .nodes = {"spark-1"}}};
  const ConvergeReport report =
      RunConverge(MakePlanWith({Named("/a")}), {warned, MakePlanWith({})});
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.remaining.WarningCount(), 0u);
}

TEST(Converge, SaysWhatStillDiffers) {
  const ConvergeReport report =
      RunConverge(MakePlanWith({Named("/a")}), {MakePlanWith({Named("/a")})});
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(FormatErrors(report.errors),
            "spark-1: file /a still differs after the apply: 1 → 2\n"
            "  hint: another program may write it too; plan again to see it\n");
}

Change Unreadable(const std::string& name) {
  Change change = Named(name);
  change.fingerprint = "unknown";
  Block(change, "plan-state-unknown", "unknown: permission denied");
  return change;
}

TEST(Converge, WhatItChangedAndCannotReadBackIsItsError) {
  const ConvergeReport report =
      RunConverge(MakePlanWith({Named("/a")}), {MakePlanWith({Unreadable("/a")})});
  EXPECT_FALSE(report.committed);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(FormatErrors(report.errors),
            "spark-1: file /a was changed and cannot be read back: permission denied\n"
            "  hint: what it is now is not known; plan again to see it\n");
}

TEST(Converge, WhatThePlanAnnouncedAndCannotBeReadThenIsItsErrorToo) {
  const ConvergeReport report = RunConverge(MakePlanWith({Named("/a"), Named("/keys", true)}),
                                            {MakePlanWith({Unreadable("/keys")})});
  EXPECT_FALSE(report.committed);
  EXPECT_EQ(FormatErrors(report.errors),
            "spark-1: file /keys is still to be changed and cannot be read now: permission denied\n"
            "  hint: what it is now is not known; plan again to see it\n");
}

TEST(Converge, WhatThePlanAnnouncedAndIsBlockedThenLeavesTheRestApplied) {
  Change blocked = Named("/unit");
  blocked.fingerprint = "blocked";
  Block(blocked, "units-not-installed", "not installed");
  const ConvergeReport report =
      RunConverge(MakePlanWith({Named("/a"), Named("/unit", true)}), {MakePlanWith({blocked})});
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(report.remaining.BlockedCount(), 1u);
  EXPECT_FALSE(RunConverge(MakePlanWith({Named("/unit")}), {MakePlanWith({blocked})}).converged)
      << "it was changed";
}

TEST(Converge, WhatCannotBeReadBackAfterTheCommitIsItsErrorToo) {
  Plan plan = MakePlanWith({Named("/a")});
  plan.nodes = {{.name = "spark-1"}};
  Plan unreadable = MakePlanWith({Unreadable("/a")});
  unreadable.nodes = plan.nodes;
  const ConvergeReport report = RunConverge(plan, {MakePlanWith({}), unreadable});
  EXPECT_TRUE(report.committed);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.ends, (std::map<NodeName, NodeEnd>{{"spark-1", NodeEnd::kUnknown}}));
}

TEST(Converge, WhatItLeftAloneMayStayBlocked) {
  EXPECT_TRUE(
      RunConverge(MakePlanWith({Named("/a"), Unreadable("/b")}), {MakePlanWith({Unreadable("/b")})})
          .converged);
}

TEST(Converge, CarriesOutInASecondPassWhatThePlanAnnounced) {
  EXPECT_TRUE(RunConverge(MakePlanWith({Named("/keys", true)}),
                          {MakePlanWith({Named("/keys")}), MakePlanWith({})})
                  .converged);
}

TEST(Converge, CarriesOutNothingThatThePlanDidNotAnnounce) {
  const ConvergeReport report =
      RunConverge(MakePlanWith({Named("/keys", true)}), {MakePlanWith({Named("/other")})});
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.errors.size(), 1u);
}

TEST(Converge, LeavesAloneWhatStoodBesideASavedPlan) {
  FakeNetwork network({});
  NodePool pool(network.Dialer());
  const Plan saved = MakePlanWith({Named("/a")});
  const std::set<std::string> beside =
      FindIdsBeside(saved, MakePlanWith({Named("/a"), Named("/b")}));
  EXPECT_EQ(beside, std::set<std::string>{"spark-1/file//b"});
  const auto sessions = Sessions::OpenAll({}, pool, "a test");
  const ConvergeReport report = Converge(
      saved, ClusterSpec{}, Fabric{}, **sessions, pool,
      [](const Trials&) -> Result<Plan> { return MakePlanWith({Named("/b")}); },
      [](const Event&) {}, {.beside = beside});
  EXPECT_TRUE(report.converged);
}

TEST(Converge, WhatStopsItIsQueriedOnceMoreWhenAllNodesAreReady) {
  FakeNetwork network({});
  NodePool pool(network.Dialer());
  const Plan plan = MakePlanWith({Named("/a")});
  const auto sessions = Sessions::OpenAll({}, pool, "a test");
  bool ready = false;
  std::set<std::string> ids;
  const ConvergeReport report = Converge(
      plan, ClusterSpec{}, Fabric{}, **sessions, pool,
      [](const Trials&) -> Result<Plan> { return MakePlanWith({}); },
      [&](const Event& event) {
        ready |= event.type == EventType::kReady;
        ids.insert(event.apply_id);
      },
      {.should_stop = [&] { return ready; },
       .before = plan,
       .between_readings = std::chrono::milliseconds(1)});
  EXPECT_TRUE(ready);
  EXPECT_TRUE(report.applied.interrupted);
  EXPECT_FALSE(report.committed);
  EXPECT_TRUE(report.reverted);
  EXPECT_EQ(ids, std::set<std::string>{report.apply_id});
}

TEST(Converge, ANodeThatTakesNoNewLoginIsNotConverged) {
  Plan before = MakePlanWith({Named("/a")});
  before.nodes = {{.name = "spark-1"}};
  Plan after = MakePlanWith({});
  after.nodes = {{.name = "spark-1", .unreachable = "connection refused"}};
  const ConvergeReport report = RunConverge(before, {after});
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(FormatErrors(report.errors),
            "spark-1: no new login after the apply: connection refused\n");
}

}  // namespace
}  // namespace reconciler
