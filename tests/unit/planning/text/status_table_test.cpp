#include "reconciler/planning/text/status_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using testing::HasSubstr;

// spark-1 is in sync, spark-2 is as the test makes it, and spark-3 cannot be reached.
class Status : public testing::Test {
 protected:
  Status() {
    plan_ = {.cluster = "lab", .summary = "3 nodes", .spec_digest = "d"};
    plan_.nodes = {{.name = "spark-1", .address = "10.0.0.1", .generation = 4},
                   {.name = "spark-2", .address = "10.0.0.2", .generation = 4},
                   {.name = "spark-3", .address = "10.0.0.3", .unreachable = "no route to host"}};
    plan_.stages = {{.plugins = {"p"}}};
    for (const char* name : {"spark-1", "spark-2"}) {
      facts_.nodes[name] = {.node = name,
                            .ledger = Ledger{.cluster = "lab",
                                             .generation = 4,
                                             .manifest_digest = "d",
                                             .entries = {{.kind = "file", .name = "/x"}}}};
    }
    facts_.unreachable["spark-3"] = {.message = "no route to host"};
    applies_ = {
        {"spark-1", {"2026-11-22T23:57:01Z", "ada@desk", "passed"}},
        {"spark-2", {"2026-11-22T23:57:01Z", "ada@desk", ""}},
    };
  }

  Change& Add(const std::string& name) {
    plan_.stages[0].changes.push_back({.kind = "file", .name = name, .node = "spark-2"});
    return plan_.stages[0].changes.back();
  }
  std::string Render(std::size_t columns = 0) const {
    return RenderStatus(plan_, facts_, applies_, columns);
  }
  NodeState FindState() const { return FindNodeState(plan_, facts_, "spark-2"); }

  Plan plan_;
  ClusterFacts facts_;
  std::map<NodeName, LastApply> applies_;
};

TEST_F(Status, ANodeWhereSomethingWinsOverTheManifestIsNotInSync) {
  plan_.diagnostics = {{.severity = Severity::kWarns,
                        .code = "sysctl-overridden-at-boot",
                        .message = "m",
                        .nodes = {"spark-2"}}};
  EXPECT_EQ(FindState(), NodeState::kOverridden);
  EXPECT_THAT(Render(), HasSubstr("\nspark-2  overridden "));
  EXPECT_THAT(Render(), HasSubstr("\n1 in sync, 1 overridden, 1 unreachable. `plan` shows what "
                                  "differs.\n"));
}

TEST_F(Status, EachNodeIsALineOfATable) {
  Add("/x").cause.kind = CauseKind::kDrifted;
  EXPECT_EQ(Render(),
            "lab · 3 nodes\n"
            "node     state        generation  applied (UTC)     verify   by\n"
            "spark-1  in sync      4           2026-11-22 23:57  passed   ada@desk\n"
            "spark-2  drifted      4           2026-11-22 23:57  not run  ada@desk\n"
            "spark-3  unreachable  -           -                 -        -\n"
            "spark-2: 1 change\n"
            "spark-3: not reached: no route to host\n"
            "1 in sync, 1 drifted, 1 unreachable. `plan` shows what differs.\n");
}

TEST_F(Status, AnApplyThatChangedOtherNodesIsTheGenerationOfAll) {
  applies_["spark-2"].generation = 7;
  EXPECT_THAT(Render(), HasSubstr("\nspark-2  in sync      7           2026-11-22 23:57  "));
}

TEST_F(Status, AClusterInSyncIsThat) {
  plan_.nodes.pop_back();
  EXPECT_THAT(Render(), testing::EndsWith("ada@desk\n2 in sync.\n"));
}

TEST_F(Status, NoLineIsWiderThanTheTerminal) {
  plan_.nodes[2].unreachable = "no connection to 10.0.0.3 within 10 s, and no answer to a ping";
  for (const std::string& line : SplitLines(Render(60))) EXPECT_LE(CountColumns(line), 60u) << line;
  EXPECT_THAT(Render(60),
              HasSubstr("\nspark-3: not reached: no connection to 10.0.0.3 within 10 s,\n"
                        "  and no answer to a ping\n"));
  applies_["spark-1"].by = "ada.with.a.long.name@a-desk-with-a-long-name";
  applies_["spark-1"].verification = "not measured";
  for (const std::string& line : SplitLines(Render(80))) EXPECT_LE(CountColumns(line), 80u);
  EXPECT_THAT(Render(80), HasSubstr("\nspark-1  in sync      4           2026-11-22 23:57  "
                                    "not measured  ada.with.a.lo…\n"));
}

TEST_F(Status, WhatDiffersFromWhatWasAppliedHasDriftedWhateverElseIsPending) {
  EXPECT_EQ(FindState(), NodeState::kInSync);
  Add("/y").cause.kind = CauseKind::kManifestChanged;
  EXPECT_EQ(FindState(), NodeState::kPending);
  Add("/x").cause.kind = CauseKind::kDriftedAndChanged;
  EXPECT_EQ(FindState(), NodeState::kDrifted);
}

TEST_F(Status, AnEditedFileHasDriftedAlsoWhereNothingRequiresIt) {
  Block(Add("/x"), "plan-file-edited", "edited");
  EXPECT_EQ(FindState(), NodeState::kDrifted);
}

TEST_F(Status, ANodeIsBlockedWhereNothingCanBeApplied) {
  Block(Add("/y"), "p-q", "why");
  EXPECT_EQ(FindState(), NodeState::kBlocked);
  Add("/z");
  EXPECT_EQ(FindState(), NodeState::kPending);
  EXPECT_THAT(Render(), HasSubstr("\nspark-2: 1 change, 1 blocked\n"));
}

TEST_F(Status, AnApplyThatWasCutOffStandsAboveAllElse) {
  Add("/x");
  facts_.nodes["spark-2"].apply.undecided = {"0a49-11"};
  EXPECT_EQ(FindState(), NodeState::kUnfinished);
  EXPECT_THAT(Render(), HasSubstr("\nspark-2: apply 0a49-11 is unfinished; apply ends it first\n"));
}

TEST_F(Status, TheOwnersOfOurPortsAreNamedOnce) {
  for (const char* name : {"/x", "/y"}) {
    Change& change = Add(name);
    Block(change, "netplan-foreign-file", "why");
    change.owner = {.name = "/etc/netplan/40.yaml", .claims = {"p0", "p1"}};
  }
  EXPECT_THAT(Render(), HasSubstr("\nspark-2: 2 blocked\n"
                                  "spark-2: /etc/netplan/40.yaml configures p0, p1\n"
                                  "spark-3: not reached"));
}

TEST_F(Status, WhatIsTrueOfSeveralNodesIsSaidOnce) {
  plan_.diagnostics = {
      {.severity = Severity::kWarns, .code = "a-b", .nodes = {"spark-1", "spark-2"}}};
  EXPECT_THAT(Render(), HasSubstr("\nspark-1, spark-2: 1 warning\n"));
}

TEST_F(Status, ALedgerThatCannotBeReadIsNamed) {
  facts_.nodes["spark-2"].ledger = Unknown{"it is damaged"};
  EXPECT_THAT(Render(), HasSubstr("\nspark-2: /var/lib/spark-reconcile/ledger.json cannot be read: "
                                  "it is damaged\n"));
}

TEST_F(Status, TextFromANodeCannotReachTheTerminalRaw) {
  applies_["spark-1"] = {"\033[2J2026-11-22T", "\033[31m", "\033"};
  Change& change = Add("/x");
  change.owner = {.name = "/\033", .claims = {"\033"}};
  facts_.nodes["spark-2"].apply.lease = "\033";
  EXPECT_THAT(Render(), testing::Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace reconciler
