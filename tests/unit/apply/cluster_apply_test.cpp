#include "reconciler/apply/cluster_apply.h"

#include <gtest/gtest.h>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/planning/ledger.h"
#include "tests/support/fake_session.h"

namespace reconciler {
namespace {

// One plugin that wants one value; without `is` it cannot be read, as it reads otherwise nothing
// differs.
std::vector<Resource> WantTwo(const PluginInput& input) {
  const auto is = input.facts.sysctl.keys.find("is");
  if (is == input.facts.sysctl.keys.end()) return {};
  return {{.kind = "value",
           .name = "a",
           .node = input.node.name,
           .desired = ResourceState("2"),
           .observed = ResourceState(*Known(is->second)),
           .apply = {RunCommand{{"set", "2"}}},
           .interrupts = input.facts.session.interface}};
}

// Two nodes that are read as the test says, one reading after another; the last one stays.
class ClusterApplyTest : public testing::Test {
 protected:
  ClusterApplyTest()
      : network_({{"spark-1", SessionNode()}, {"spark-2", SessionNode()}}),
        pool_(network_.Dialer()) {
    cluster_.file = "cluster.yaml";
    cluster_.name = "lab";
    cluster_.nodes = {{.name = "spark-1", .id = 1}, {.name = "spark-2", .id = 2}};
    readings_ = {FactsWith("1")};
  }

  static ClusterFacts FactsWith(const std::string& value) {
    ClusterFacts facts;
    for (const char* name : {"spark-1", "spark-2"}) {
      facts.nodes[name] = {.node = name, .sysctl = {.keys = {{"is", value}}}};
    }
    return facts;
  }

  void Start(const PlanScope& scope = {}, const ClusterApplyOptions& options = {}) {
    apply_.emplace(
        ClusterApplyInput{
            .cluster = cluster_, .fabric = fabric_, .plugins = plugins_, .scope = scope},
        options,
        ClusterApplyHooks{.read =
                              [this](const PlanScope& wanted, const Trials&) {
                                reads_.push_back(wanted.nodes);
                                return readings_[std::min(reads_.size(), readings_.size()) - 1];
                              },
                          .on_event = [](const Event&) {},
                          .should_stop = [] { return false; },
                          .on_changing = [this] { ++changes_; },
                          .on_unfinished = [](const std::string&) {},
                          .on_cabling = [this](const CablingReport&) { ++cablings_; }},
        pool_);
  }

  std::optional<RefusalKind> ProposedRefusal() {
    const Proposal proposal = apply_->Propose(std::nullopt);
    return proposal.refusal ? std::optional(proposal.refusal->kind) : std::nullopt;
  }

  // Why what was proposed is not carried out.
  std::optional<RefusalKind> CarriedOutRefusal() {
    const Proposal proposal = apply_->Propose(std::nullopt);
    EXPECT_TRUE(proposal.plan && !proposal.refusal);
    const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
    EXPECT_EQ(result.refusal.has_value(), !result.report.has_value());
    return result.refusal ? std::optional(result.refusal->kind) : std::nullopt;
  }

  ClusterSpec cluster_;
  Fabric fabric_;
  std::vector<Plugin> plugins_ = {{.name = "values", .resources = WantTwo}};
  FakeNetwork network_;
  NodePool pool_;
  std::vector<ClusterFacts> readings_;
  std::vector<std::vector<NodeName>> reads_;
  int changes_ = 0;
  int cablings_ = 0;
  std::optional<ClusterApply> apply_;
};

TEST_F(ClusterApplyTest, ProposingChangesNothingAndLocksNoOne) {
  Start();
  const Proposal proposal = apply_->Propose(std::nullopt);
  EXPECT_EQ(proposal.plan->ChangeCount(), 2u);
  EXPECT_TRUE(proposal.needs_work);
  EXPECT_FALSE(proposal.refusal);
  EXPECT_TRUE(network_.ListScripts("spark-1").empty());
}

TEST_F(ClusterApplyTest, WhereNothingDiffersThereIsNoWork) {
  readings_ = {FactsWith("2")};
  Start();
  EXPECT_FALSE(apply_->Propose(std::nullopt).needs_work);
}

// The other apply may be writing the ledger at the moment.
TEST_F(ClusterApplyTest, ALedgerThatCannotBeReadBesideARunningApplyIsALockedNode) {
  readings_[0].nodes["spark-2"].ledger = Unknown{"changed while it was read"};
  Start();
  EXPECT_EQ(ProposedRefusal(), RefusalKind::kNotAllowed);
  readings_[0].nodes["spark-2"].apply.lease = "ada@desk pid 812";
  const Proposal proposal = apply_->Propose(std::nullopt);
  ASSERT_TRUE(proposal.refusal);
  EXPECT_EQ(proposal.refusal->kind, RefusalKind::kLocked);
  EXPECT_EQ(FormatErrors(proposal.refusal->errors),
            "spark-2: another apply is running: ada@desk pid 812\n"
            "  hint: wait for it; its lock goes when it ends or its connection is cut (`lock list` "
            "shows it)\n"
            "spark-2: /var/lib/spark-reconcile/ledger.json: changed while it was read\n"
            "  hint: it holds the originals: repair it, or move it away to start without them\n");
}

TEST_F(ClusterApplyTest, AnUnfinishedApplyIsNamedBeforeAnythingIsProposed) {
  readings_ = {FactsWith("2")};
  for (const char* node : {"spark-1", "spark-2"}) {
    readings_[0].nodes[node].apply.undecided = {"0a49aaaa-20261122235701bbbbbbbb"};
  }
  Start();
  const Proposal proposal = apply_->Propose(Plan());  // a saved plan is not compared with a trial
  EXPECT_EQ(proposal.unfinished,
            std::vector<std::string>{"spark-1, spark-2: apply 0a49aaaa of 2026-11-22 23:57 UTC is "
                                     "unfinished; apply ends it first"});
  EXPECT_FALSE(proposal.plan);
  EXPECT_FALSE(proposal.refusal);
  EXPECT_TRUE(network_.ListScripts("spark-1").empty());
}

TEST_F(ClusterApplyTest, AnUnfinishedApplyIsEndedAndThenThePlanIsANewOne) {
  readings_ = {FactsWith("2"), FactsWith("1")};
  readings_[0].nodes["spark-2"].apply.undecided = {"0a49-11"};
  Start();
  ASSERT_FALSE(apply_->Propose(std::nullopt).unfinished.empty());
  ASSERT_FALSE(apply_->EndUnfinished());
  const Proposal proposal = apply_->Propose(std::nullopt);
  EXPECT_TRUE(proposal.unfinished.empty());
  EXPECT_EQ(proposal.plan->ChangeCount(), 2u);
  const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
  EXPECT_FALSE(result.refusal);
  EXPECT_TRUE(result.report);
}

TEST_F(ClusterApplyTest, ASavedPlanIsComparedWithWhatTheUnfinishedApplyBecame) {
  readings_ = {FactsWith("1"), FactsWith("2"), FactsWith("2"), FactsWith("2"), FactsWith("1")};
  for (const int reading : {1, 3}) {
    readings_[static_cast<std::size_t>(reading)].nodes["spark-2"].apply.undecided = {"0a49-11"};
  }
  Start();
  const Plan saved = *apply_->Propose(std::nullopt).plan;
  ASSERT_FALSE(apply_->Propose(saved).unfinished.empty());
  ASSERT_FALSE(apply_->EndUnfinished());
  const Proposal committed = apply_->Propose(saved);
  ASSERT_TRUE(committed.refusal);
  EXPECT_EQ(committed.refusal->kind, RefusalKind::kStale);

  Start();
  ASSERT_FALSE(apply_->Propose(saved).unfinished.empty());
  ASSERT_FALSE(apply_->EndUnfinished());
  const Proposal reverted = apply_->Propose(saved);
  EXPECT_FALSE(reverted.refusal);
  EXPECT_EQ(reverted.plan->ChangeCount(), 2u);
}

TEST_F(ClusterApplyTest, TheUnfinishedApplyOfAnotherClusterIsLeftAlone) {
  readings_[0].nodes["spark-1"].ledger = Ledger{.cluster = "other"};
  readings_[0].nodes["spark-1"].apply.undecided = {"0a49-11"};
  Start();
  EXPECT_EQ(ProposedRefusal(), RefusalKind::kNotAllowed);
}

TEST_F(ClusterApplyTest, ASavedPlanThatNoLongerFitsIsNotShown) {
  Start();
  const Plan saved = *apply_->Propose(std::nullopt).plan;
  readings_ = {FactsWith("0")};
  const Proposal proposal = apply_->Propose(saved);
  EXPECT_FALSE(proposal.plan);
  EXPECT_EQ(proposal.refusal->kind, RefusalKind::kStale);
}

TEST_F(ClusterApplyTest, DriftBesideASavedPlanWithoutChangesIsCounted) {
  readings_ = {FactsWith("2")};
  Start();
  const Plan saved = *apply_->Propose(std::nullopt).plan;
  readings_ = {FactsWith("1")};
  const Proposal proposal = apply_->Propose(saved);
  EXPECT_FALSE(proposal.refusal);
  EXPECT_FALSE(proposal.needs_work);
  EXPECT_TRUE(proposal.plan->Empty());
  EXPECT_EQ(proposal.beside, 2u);
}

TEST_F(ClusterApplyTest, DriftBesideASavedPlanKeepsNoLedgerFromBeingSettled) {
  const auto facts_with = [](const std::string& value) {
    ClusterFacts facts = FactsWith(value);
    facts.nodes["spark-1"].ledger = Ledger{.cluster = "lab"};  // without the cluster's nodes
    return facts;
  };
  readings_ = {facts_with("2")};
  Start();
  const Plan saved = *apply_->Propose(std::nullopt).plan;
  readings_ = {facts_with("1")};
  const Proposal proposal = apply_->Propose(saved);
  EXPECT_TRUE(proposal.needs_work);
  const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
  EXPECT_FALSE(result.refusal);
  // With the cluster's nodes, which it lacked.
  EXPECT_NE(network_.ListScripts("spark-1").back().find("spark-2"), std::string::npos);
  EXPECT_EQ(result.beside, 2u);
  EXPECT_TRUE(result.remaining.Empty());
  EXPECT_EQ(changes_, 0);
}

TEST_F(ClusterApplyTest, ASavedPlanWithAForgedRevertIsStale) {
  Start();
  Plan saved = *apply_->Propose(std::nullopt).plan;
  saved.stages[0].changes[0].revert = {RunCommand{{"sh", "-c", "forged"}}};
  const Proposal proposal = apply_->Propose(saved);
  ASSERT_TRUE(proposal.refusal);
  EXPECT_EQ(proposal.refusal->kind, RefusalKind::kStale);
  EXPECT_EQ(FormatErrors(proposal.refusal->errors),
            "spark-1: value a differs from what is planned now in revert\n"
            "  hint: make a new plan and review it\n");
}

std::vector<Resource> WantLink(const PluginInput& input) {
  std::vector<Resource> links = WantTwo(input);
  for (Resource& link : links) link.is_link = true;
  return links;
}

TEST_F(ClusterApplyTest, ASavedPlanThatLeavesTheOtherEndOfACableAloneIsRefused) {
  plugins_[0].resources = WantLink;
  fabric_.segments = {
      {.ports = {{.node = "spark-1", .netdev = "a"}, {.node = "spark-2", .netdev = "a"}}}};
  Start();
  Plan saved = *apply_->Propose(std::nullopt).plan;
  std::erase_if(saved.stages[0].changes,
                [](const Change& change) { return change.node == "spark-2"; });
  const Proposal proposal = apply_->Propose(saved);
  ASSERT_TRUE(proposal.refusal);
  EXPECT_EQ(proposal.refusal->kind, RefusalKind::kHalfCables);
  EXPECT_EQ(proposal.refusal->lines,
            std::vector<std::string>{
                "spark-1: a would change, and spark-2 at the other end stays as it is: a differs "
                "there too, and is not in the plan: make a new one"});
}

TEST_F(ClusterApplyTest, NoCommandIsEverReadFromTheApprovedPlan) {
  Start();
  Plan forged = *apply_->Propose(std::nullopt).plan;
  forged.stages[0].changes[0].revert = {RunCommand{{"sh", "-c", "forged"}}};
  const ClusterApplyResult result = apply_->CarryOut(forged);
  ASSERT_TRUE(result.refusal);
  EXPECT_EQ(result.refusal->kind, RefusalKind::kStale);
  for (const std::string& script : network_.ListScripts("spark-1")) {
    EXPECT_EQ(script.find("forged"), std::string::npos);
  }
}

TEST_F(ClusterApplyTest, ANodeOfAnotherClusterIsRefused) {
  readings_[0].nodes["spark-1"].ledger = Ledger{.cluster = "other"};
  Start();
  EXPECT_EQ(ProposedRefusal(), RefusalKind::kNotAllowed);
}

std::vector<Diagnostic> BlockWhereItReads0(const PluginInput& input) {
  if (*Known(input.facts.sysctl.keys.at("is")) != "0") return {};
  return {{.severity = Severity::kBlocks, .code = "values-zero", .message = "wanted 2, found 0"}};
}

TEST_F(ClusterApplyTest, WhatBlocksOnOneNodeRefusesTheApplyOfAll) {
  plugins_[0].diagnose = BlockWhereItReads0;
  readings_[0].nodes["spark-2"].sysctl.keys["is"] = "0";
  Start();
  const Proposal proposal = apply_->Propose(std::nullopt);
  EXPECT_EQ(proposal.plan->ChangeCount(), 2u);  // they are shown
  ASSERT_TRUE(proposal.refusal);
  EXPECT_EQ(proposal.refusal->kind, RefusalKind::kNotAllowed);
  ASSERT_EQ(proposal.refusal->diagnostics.size(), 1u);
  EXPECT_EQ(FormatDiagnostic(proposal.refusal->diagnostics[0]),
            "error: spark-2: wanted 2, found 0 [values-zero]\n");
}

TEST_F(ClusterApplyTest, WhatBlocksIsReadFromTheNodesAndNotFromASavedPlan) {
  plugins_[0].diagnose = BlockWhereItReads0;
  Start();
  Plan saved = *apply_->Propose(std::nullopt).plan;
  saved.diagnostics = {{.severity = Severity::kBlocks, .code = "values-zero"}};
  EXPECT_FALSE(apply_->Propose(saved).refusal);
  saved.diagnostics.clear();
  saved.stages[0].changes.erase(saved.stages[0].changes.begin() + 1);  // nothing of spark-2
  readings_[0].nodes["spark-2"].sysctl.keys["is"] = "0";
  const Proposal proposal = apply_->Propose(saved);
  ASSERT_TRUE(proposal.refusal);
  EXPECT_EQ(proposal.refusal->kind, RefusalKind::kNotAllowed);
}

TEST_F(ClusterApplyTest, ABlockedChangeRefusesNothing) {
  readings_[0].nodes["spark-2"].sysctl.keys["is"] = "0";
  plugins_[0].resources = [](const PluginInput& input) {
    std::vector<Resource> resources = WantTwo(input);
    if (input.node.name == "spark-2") resources[0].observed = Unknown{"gone"};
    return resources;
  };
  Start();
  const Proposal proposal = apply_->Propose(std::nullopt);
  EXPECT_FALSE(proposal.refusal);
  EXPECT_EQ(proposal.plan->ChangeCount(), 1u);
  EXPECT_EQ(proposal.plan->BlockedCount(), 1u);
}

TEST_F(ClusterApplyTest, ALostNodeIsRefusedUnlessAcceptedOrAllIsUninstalled) {
  readings_[0].nodes["spark-1"].ledger =
      Ledger{.cluster = "lab", .nodes = {{.name = "spark-3", .id = 3, .address = "x"}}};
  Start();
  EXPECT_EQ(ProposedRefusal(), RefusalKind::kNotAllowed);
  Start({}, {.allow_node_removal = true});
  EXPECT_EQ(ProposedRefusal(), std::nullopt);
  Start({.uninstall = true});
  EXPECT_EQ(ProposedRefusal(), std::nullopt);
}

TEST_F(ClusterApplyTest, WorkThatWouldEndIsAReasonToRefuseUnlessAccepted) {
  readings_[0].nodes["spark-1"].session.interface = "a job";
  Start();
  EXPECT_EQ(ProposedRefusal(), RefusalKind::kInterrupts);
  Start({}, {.interrupt = true});
  EXPECT_EQ(ProposedRefusal(), std::nullopt);
}

TEST_F(ClusterApplyTest, AnUnknownPluginIsNoPlan) {
  Start({.only = {"vlaues"}});
  EXPECT_EQ(ProposedRefusal(), RefusalKind::kNoPlan);
}

TEST_F(ClusterApplyTest, WhatMovedBeforeTheLockIsStale) {
  readings_ = {FactsWith("1"), FactsWith("0")};
  Start();
  EXPECT_EQ(CarriedOutRefusal(), RefusalKind::kStale);
  EXPECT_EQ(changes_, 0);
}

TEST_F(ClusterApplyTest, AJobThatBeganBeforeTheLockIsNotEnded) {
  readings_ = {FactsWith("1"), FactsWith("1")};
  readings_[1].nodes["spark-1"].session.interface = "a job";
  Start();
  EXPECT_EQ(CarriedOutRefusal(), RefusalKind::kInterrupts);
}

TEST_F(ClusterApplyTest, WhatDiffersOnlyNowIsNotCarriedOutWithAnEmptyPlan) {
  readings_ = {FactsWith("2"), FactsWith("1")};
  Start();
  EXPECT_EQ(CarriedOutRefusal(), RefusalKind::kNewDrift);
}

TEST_F(ClusterApplyTest, ALockedNodeIsRefusedWithTheOthersLease) {
  network_.SetNode("spark-1", {.shell =
                                   [](const std::string& script) {
                                     const std::string nonce =
                                         script.substr(script.find("NONCE='") + 7, 32);
                                     const std::string done = "\n" + nonce + " done 9\n";
                                     return ScriptReply{.out = "ada@desk" + done, .err = done};
                                   },
                               .runs_at = "\n"});
  Start();
  const Proposal proposal = apply_->Propose(std::nullopt);
  const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
  ASSERT_TRUE(result.refusal);
  EXPECT_EQ(result.refusal->kind, RefusalKind::kLocked);
  EXPECT_EQ(result.refusal->errors.at(0).message, "another apply is running: ada@desk");
}

TEST_F(ClusterApplyTest, WithoutAPromptOneReadingBelowTheLockServesBoth) {
  Start();
  apply_->LockAhead();
  EXPECT_EQ(reads_.size(), 0u);
  const Proposal proposal = apply_->Propose(std::nullopt);
  ASSERT_TRUE(proposal.plan);
  EXPECT_EQ(reads_.size(), 1u);
  readings_ = {FactsWith("1"), FactsWith("2")};  // what the apply made of it
  const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
  EXPECT_FALSE(result.refusal);
  EXPECT_EQ(changes_, 1);
}

TEST_F(ClusterApplyTest, ANodeThatIsLockedAheadByAnotherIsReadAndRefusedAsAnyOther) {
  network_.SetNode("spark-2", {.shell =
                                   [](const std::string& script) {
                                     const std::string nonce =
                                         script.substr(script.find("NONCE='") + 7, 32);
                                     const std::string done = "\n" + nonce + " done 9\n";
                                     return ScriptReply{.out = "ada@desk" + done, .err = done};
                                   },
                               .runs_at = "\n"});
  Start();
  apply_->LockAhead();
  EXPECT_EQ(CarriedOutRefusal(), RefusalKind::kLocked);
}

TEST_F(ClusterApplyTest, AnUnfinishedApplyIsNotEndedAhead) {
  network_.SetNode("spark-1", SessionNode([](const std::string&, const std::string&) {
                     return ScriptReply{.out = "0123-4567 none\n"};
                   }));
  readings_ = {FactsWith("1")};
  readings_.front().nodes["spark-1"].apply.undecided = {"0123-4567"};
  Start();
  apply_->LockAhead();
  EXPECT_EQ(apply_->Propose(std::nullopt).unfinished.size(), 1u);
}

TEST_F(ClusterApplyTest, AnUninstallLocksNothingAhead) {
  Start({.uninstall = true});
  apply_->LockAhead();
  EXPECT_TRUE(network_.ListScripts("spark-1").empty());
}

TEST_F(ClusterApplyTest, TheCablesAreCheckedOnlyWhereTheApplyMaySetLinks) {
  plugins_.push_back({.name = "links", .sets_links = true});
  Start({.only = {"values"}});
  apply_->CarryOut(*apply_->Propose(std::nullopt).plan);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(cablings_, 0);
  Start();
  apply_->CarryOut(*apply_->Propose(std::nullopt).plan);
  EXPECT_EQ(changes_, 2);
  EXPECT_EQ(cablings_, 1);
}

TEST_F(ClusterApplyTest, ANodeThatIsLostBeforeTheLockRefusesAll) {
  Start();
  const Proposal proposal = apply_->Propose(std::nullopt);
  network_.SetNode("spark-2", {.refuse_dial = "connection refused"});
  const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
  ASSERT_TRUE(result.refusal);
  EXPECT_EQ(result.refusal->kind, RefusalKind::kNodeLost);
}

TEST_F(ClusterApplyTest, ANodeThatIsNotReachedRefusesAllUnlessAccepted) {
  readings_[0].nodes.erase("spark-2");
  readings_[0].unreachable["spark-2"] = {.message = "no route to host"};
  Start();
  const Proposal refused = apply_->Propose(std::nullopt);
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(refused.refusal->kind, RefusalKind::kUnreached);
  EXPECT_EQ(refused.refusal->lines, std::vector<std::string>{"spark-2"});
  EXPECT_EQ(refused.plan->ChangeCount(), 1u);  // it is shown
  Start({}, {.allow_unreached = true});
  EXPECT_FALSE(apply_->Propose(std::nullopt).refusal);
  EXPECT_EQ(apply_->ListAbsent(), std::vector<NodeName>{"spark-2"});
}

TEST_F(ClusterApplyTest, ANodeThatIsLostUnderTheLockRefusesAll) {
  readings_ = {FactsWith("1"), FactsWith("1")};
  readings_[1].nodes.erase("spark-2");
  readings_[1].unreachable["spark-2"] = {.message = "no route to host"};
  Start();
  const Proposal proposal = apply_->Propose(std::nullopt);
  EXPECT_FALSE(proposal.refusal);
  EXPECT_TRUE(apply_->CarryOut(*proposal.plan).refusal);
  EXPECT_EQ(changes_, 0);
}

TEST_F(ClusterApplyTest, ANodeThatDidNotAnswerAtFirstIsNotQueriedAgain) {
  readings_ = {FactsWith("1"), FactsWith("0")};
  for (ClusterFacts& facts : readings_) facts.nodes.erase("spark-2");
  readings_[0].unreachable["spark-2"] = {.message = "no route to host"};
  Start({}, {.allow_unreached = true});
  EXPECT_EQ(CarriedOutRefusal(), RefusalKind::kStale);
  EXPECT_EQ(reads_.at(0), std::vector<NodeName>());
  EXPECT_EQ(reads_.at(1), std::vector<NodeName>{"spark-1"});
  EXPECT_TRUE(apply_->facts().unreachable.contains("spark-2"));
}

// Where it was committed, no later apply could read it.
TEST_F(ClusterApplyTest, ALedgerThatWouldBeTooLargeIsRefusedBeforeAnythingIsStaged) {
  Ledger ledger{.cluster = "lab"};
  for (const char* path : {"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"}) {
    ledger.entries.push_back(
        {.kind = "file",
         .name = path,
         .original = {WriteFile{path, FileState{.content = std::string(1 << 20, 'x')}}}});
  }
  readings_[0].nodes["spark-1"].ledger = ledger;
  Start();
  EXPECT_EQ(CarriedOutRefusal(), RefusalKind::kNotAllowed);
  EXPECT_EQ(changes_, 0);
}

Ownership LeaveToAnother(const PluginInput&, Change& change) {
  Block(change, "values-claimed", "now another's; left as it is");
  return Ownership::kOthers;
}

// Does all that is requested of it.
FakeNode MakeWorkingNode() {
  return SessionNode([](const std::string& request, const std::string& nonce) {
    ScriptReply reply;
    for (const std::string& line : SplitLines(request)) {
      if (!line.starts_with("run_step ")) continue;
      const std::string done = "\n" + nonce + " step\n\n" + nonce + " exit 0\n";
      reply.out += done;
      reply.err += done;
    }
    return reply;
  });
}

TEST_F(ClusterApplyTest, WhatIsLeftToItsOwnerDoesNotRemainAfterAnApplyThatChangedAnotherNode) {
  plugins_[0].check_prune = LeaveToAnother;
  for (const char* name : {"spark-1", "spark-2"}) network_.SetNode(name, MakeWorkingNode());
  ClusterFacts before = FactsWith("2");
  before.nodes["spark-1"].sysctl.keys["is"] = "1";
  ClusterFacts after = FactsWith("2");
  for (ClusterFacts* facts : {&before, &after}) {
    facts->nodes["spark-2"].ledger = Ledger{.cluster = "lab",
                                            .entries = {{.kind = "link",
                                                         .name = "port",
                                                         .plugin = "values",
                                                         .triggers = {RunCommand{{"restore"}}}}}};
  }
  readings_ = {before, before, after};
  Start();
  const Proposal proposal = apply_->Propose(std::nullopt);
  ASSERT_TRUE(proposal.plan && !proposal.refusal);
  EXPECT_EQ(proposal.plan->ChangeCount(), 1u);
  EXPECT_EQ(proposal.plan->BlockedCount(), 1u);
  const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
  ASSERT_TRUE(result.report);
  EXPECT_TRUE(result.report->converged) << FormatErrors(result.report->errors);
  EXPECT_EQ(result.report->remaining.BlockedCount(), 1u);  // as it was read, with the old ledger
  EXPECT_EQ(result.remaining.BlockedCount(), 0u);
  EXPECT_TRUE(result.remaining.Empty());
}

TEST_F(ClusterApplyTest, AnUninstallAfterAppliesThatWereAllRevertedRemovesTheirJournals) {
  plugins_.clear();
  readings_[0].nodes["spark-1"].files[std::string(kLockFile)] = FileState{};
  readings_[0].nodes["spark-1"].files["~ada/.ssh/id_spark.pub"] =
      FileState{.content = "ssh-ed25519 AAAA spark-reconcile lab spark-1\n"};
  Start({.uninstall = true});
  const Proposal proposal = apply_->Propose(std::nullopt);
  EXPECT_TRUE(proposal.needs_work);
  const ClusterApplyResult result = apply_->CarryOut(*proposal.plan);
  EXPECT_TRUE(result.ledger_errors.empty());
  ASSERT_TRUE(result.uninstall);
  ASSERT_FALSE(result.uninstall->emptied.empty());
  EXPECT_EQ(result.uninstall->emptied[0].node, "spark-1");
  EXPECT_EQ(result.uninstall->emptied[0].kept, std::vector<std::string>{"~ada/.ssh/id_spark"});
  EXPECT_NE(network_.ListScripts("spark-1").back().find("rm -rf -- \"$D\""), std::string::npos);
}

TEST_F(ClusterApplyTest, AnUninstallWhereWeNeverWereIsNoWork) {
  plugins_.clear();
  Start({.uninstall = true});
  EXPECT_FALSE(apply_->Propose(std::nullopt).needs_work);
}

TEST_F(ClusterApplyTest, AnUninstallKeepsTheJournalsOfANodeThatLostItsLedger) {
  plugins_.clear();
  readings_[0].nodes["spark-1"].files[std::string(kLockFile)] = FileState{};
  readings_[0].nodes["spark-1"].files["/etc/a"] =
      FileState{.content = FormatOwnedFile("lab", "a line\n")};
  Start({.uninstall = true});
  EXPECT_FALSE(apply_->Propose(std::nullopt).needs_work);
}

}  // namespace
}  // namespace reconciler
