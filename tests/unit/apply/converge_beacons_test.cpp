// What becomes of an apply whose nodes do not reach each other's beacons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "reconciler/apply/converge.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"
#include "tests/support/fake_session.h"
#include "tests/support/plan_values.h"

namespace reconciler {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

// Two nodes with one cable, and one change on each. The nodes do all that is requested of them.
class ConvergeBeaconsTest : public testing::Test {
 protected:
  ConvergeBeaconsTest()
      : cluster_(test::Cluster(Topology::kDirect, {test::Node(1), test::Node(2)}, 2)) {
    auto fabric = ExpandFabric(cluster_);
    EXPECT_TRUE(fabric);
    if (fabric) fabric_ = std::move(*fabric);
    for (const char* node : {"spark-1", "spark-2"}) {
      Change change = Named("/a");
      change.node = node;
      change.actions = {RunCommand{{"set"}}};
      changes_.push_back(std::move(change));
    }
    found_ = {{"spark-1", Find("spark-2", "answers", "answers")},
              {"spark-2", Find("spark-1", "answers", "answers")}};
  }

  static std::string Find(const std::string& peer, const std::string& first,
                          const std::string& second) {
    return peer + " enp1s0f1np1 " + first + "\n" + peer + " enP2p1s0f1np1 " + second + "\n";
  }

  ConvergeReport Run(ConvergeOptions options = {}) {
    std::map<NodeName, FakeNode> nodes;
    for (const NodeSpec& node : cluster_.nodes) {
      nodes[node.name] = SessionNode(
          [this, name = node.name](const std::string& request, const std::string& nonce) {
            return Answer(name, request, nonce);
          });
    }
    FakeNetwork network(nodes);
    NodePool pool(network.Dialer());
    const auto sessions = Sessions::OpenAll(SelectNodes(cluster_, {}), pool, "a test");
    EXPECT_TRUE(sessions);
    bool reverting = false;
    options.before = MakePlanWith(changes_);
    options.before.nodes = nodes_;
    options.between_readings = std::chrono::milliseconds(1);
    return Converge(
        options.before, cluster_, fabric_, **sessions, pool,
        [&](const Trials&) -> Result<Plan> {
          if (reverting) return MakePlanWith(changes_);
          return HasStep("commit") ? MakePlanWith(left_) : MakePlanWith({});
        },
        [&](const Event& event) {
          reverting |= event.type == EventType::kReverting;
          if (event.type == EventType::kReverted) has_reverted_ = true;
          if (event.type == EventType::kNote) noted_.push_back(event.node + ": " + event.detail);
        },
        options);
  }

  ScriptReply Answer(const NodeName& node, const std::string& request, const std::string& nonce) {
    ScriptReply reply;
    for (const std::string& line : SplitLines(request)) {
      if (line.starts_with("run_step ")) {
        reply.out += "\n" + nonce + " step\n\n" + nonce + " exit 0\n";
        reply.err += "\n" + nonce + " step\n\n" + nonce + " exit 0\n";
      }
      if (line == "look_for_peers") reply.out += Look(node);
      const std::lock_guard lock(mutex_);
      for (const char* step : {"show_proof", "look_for_peers", "record_intent"}) {
        if (line == step) steps_.push_back(step);
      }
      if (line == "commit_and_say") {
        steps_.push_back("commit");
        if (commits_.contains(node)) reply = commits_.at(node);
        if (node == refuses_) reply.exit_code = 3;
      }
      if (line == "revert_if_armed") {
        steps_.push_back("revert");
        if (reverts_.contains(node)) reply = reverts_.at(node);
      }
    }
    return reply;
  }

  bool HasStep(const std::string& step) {
    const std::lock_guard lock(mutex_);
    return std::find(steps_.begin(), steps_.end(), step) != steps_.end();
  }

  // spark-2 does not confirm the commit, and `left_` differs afterwards.
  ConvergeReport RunFailedCommit(const std::vector<PlanNode>& nodes) {
    fabric_ = {};
    nodes_ = nodes;
    refuses_ = "spark-2";
    return Run();
  }

  std::string Look(const NodeName& node) {
    const std::lock_guard lock(mutex_);
    const bool is_first = ++looks_[node] == 1;
    return is_first && found_first_.contains(node) ? found_first_.at(node) : found_.at(node);
  }

  ClusterSpec cluster_;
  Fabric fabric_ = {};
  std::vector<Change> changes_ = {};
  std::vector<Change> left_ = {};     // what differs after the commit
  std::vector<PlanNode> nodes_ = {};  // of the plan
  NodeName refuses_ = {};             // the commit
  std::map<NodeName, std::string> found_ = {};
  std::map<NodeName, std::string> found_first_ = {};  // by its first look, where that differs
  std::map<NodeName, int> looks_ = {};
  std::map<NodeName, ScriptReply> reverts_ = {};  // how nodes answer the request to revert
  std::map<NodeName, ScriptReply> commits_ = {};  // likewise, to commit
  bool has_reverted_ = false;                     // there was an event that says so
  std::vector<std::string> noted_ = {};           // by the events of notes: node and text
  std::mutex mutex_ = {};
  std::vector<std::string> steps_ = {};  // of both nodes, in order
};

TEST_F(ConvergeBeaconsTest, AllShowThenAllLookThenAllRecordTheirIntentThenAllCommit) {
  const ConvergeReport report = Run();
  EXPECT_TRUE(report.converged) << FormatErrors(report.errors);
  EXPECT_THAT(report.silent_beacons, testing::IsEmpty());
  EXPECT_THAT(steps_, ElementsAre("show_proof", "show_proof", "look_for_peers", "look_for_peers",
                                  "record_intent", "record_intent", "commit", "commit"));
}

TEST_F(ConvergeBeaconsTest, OneInterfaceIsEnough) {
  found_["spark-2"] = Find("spark-1", "no-carrier", "answers");
  EXPECT_TRUE(Run().converged);
}

TEST_F(ConvergeBeaconsTest, WhereOneNodeReachesNoBeaconNoNodeRecordsItsIntent) {
  found_["spark-2"] = Find("spark-1", "ipv6-disabled", "silent");
  const ConvergeReport report = Run();
  EXPECT_FALSE(report.committed);
  EXPECT_TRUE(report.reverted);
  EXPECT_EQ(FormatErrors(report.errors),
            "spark-2: cannot reach the beacon of spark-1: no answer on enP2p1s0f1np1, IPv6 is off "
            "on enp1s0f1np1 (disable_ipv6)\n"
            "  hint: set disable_ipv6 of that interface to 0, or give --allow-silent-beacons: then "
            "nodes may end apart when the controller is lost during the commit\n");
  EXPECT_EQ(looks_["spark-1"], 3);
  EXPECT_EQ(steps_.size(), 14u);
  EXPECT_THAT(steps_, Not(Contains("record_intent")));
  EXPECT_EQ(steps_.back(), "revert");
}

TEST_F(ConvergeBeaconsTest, WhatTheRevertOfANodeKeptElsewhereIsInTheReportAndInEvents) {
  found_["spark-2"] = Find("spark-1", "silent", "silent");
  const std::string kept =
      "/etc/hosts was changed by another program: its text is kept in /j/0/foreign";
  const std::string lost = "lost since the apply began: address dev lo 203.0.113.7/32";
  reverts_["spark-1"] = {.err = kept + "\n" + lost + "\nreverted\n"};
  reverts_["spark-2"] = {.err = "reverted\n"};
  const ConvergeReport report = Run();
  EXPECT_TRUE(report.reverted);
  EXPECT_EQ(report.notes,
            (std::map<NodeName, std::vector<std::string>>{{"spark-1", {kept, lost}}}));
  EXPECT_TRUE(has_reverted_);
  EXPECT_THAT(noted_, ElementsAre("spark-1: " + kept, "spark-1: " + lost));
}

TEST_F(ConvergeBeaconsTest, WhatTheCommitOfANodeKeptElsewhereIsInTheReportAndInEvents) {
  const std::string kept =
      "/etc/sysctl.d/a.conf was changed by another program: its text is kept in /j/0/foreign";
  commits_["spark-2"] = {.err = kept + "\n"};
  const ConvergeReport report = Run();
  EXPECT_TRUE(report.converged) << FormatErrors(report.errors);
  EXPECT_EQ(report.notes, (std::map<NodeName, std::vector<std::string>>{{"spark-2", {kept}}}));
  EXPECT_THAT(noted_, ElementsAre("spark-2: " + kept));
}

// Exit code 3: it is not tried again.
TEST_F(ConvergeBeaconsTest, WhatANodeCouldNotRevertIsInItsError) {
  found_["spark-2"] = Find("spark-1", "silent", "silent");
  const std::string kept =
      "/etc/hosts was changed by another program: its text is kept in /j/0/foreign";
  reverts_["spark-2"] = {
      .exit_code = 3,
      .err = kept +
             "\ncannot set back: as  timeout -k 2 30 ip link set dev enp1s0f1np1 mtu 1500\n"
             "revert-failed\n"};
  const ConvergeReport report = Run();
  EXPECT_FALSE(report.reverted);
  EXPECT_EQ(FormatError(report.errors.back()),
            "spark-2: the plan could not be reverted: exit 3: cannot set back: as  timeout -k 2 30 "
            "ip link set dev enp1s0f1np1 mtu 1500\n");
  EXPECT_EQ(report.notes, (std::map<NodeName, std::vector<std::string>>{{"spark-2", {kept}}}));
  EXPECT_FALSE(has_reverted_);
  EXPECT_THAT(noted_, ElementsAre("spark-2: " + kept));
}

TEST_F(ConvergeBeaconsTest, ABeaconThatIsSilentAtFirstIsShownAndLookedForAgain) {
  found_first_["spark-2"] = Find("spark-1", "silent", "silent");
  const ConvergeReport report = Run();
  EXPECT_TRUE(report.converged) << FormatErrors(report.errors);
  EXPECT_THAT(report.silent_beacons, testing::IsEmpty());
  EXPECT_THAT(steps_, ElementsAre("show_proof", "show_proof", "look_for_peers", "look_for_peers",
                                  "show_proof", "show_proof", "look_for_peers", "look_for_peers",
                                  "record_intent", "record_intent", "commit", "commit"));
}

TEST_F(ConvergeBeaconsTest, ANodeThatDoesNotSayWhatItFoundProvesNothing) {
  found_["spark-1"] = "";
  const ConvergeReport report = Run();
  EXPECT_FALSE(report.committed);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_EQ(report.errors[0].message,
            "cannot reach the beacon of spark-2: enP2p1s0f1np1 was not tried, enp1s0f1np1 was not "
            "tried");
}

TEST_F(ConvergeBeaconsTest, WhatIsAcceptedIsInTheReport) {
  found_["spark-2"] = Find("spark-1", "silent", "silent");
  const ConvergeReport report = Run({.allow_silent_beacons = true});
  EXPECT_TRUE(report.converged) << FormatErrors(report.errors);
  ASSERT_EQ(report.silent_beacons.size(), 1u);
  EXPECT_EQ(report.silent_beacons[0].context, std::vector<std::string>{"spark-2"});
  EXPECT_EQ(looks_["spark-1"], 1);
}

// One end of each rail: what is about no port is committed, and what was not proved is said.
TEST_F(ConvergeBeaconsTest, NodesBehindBlockedPortsNeedNotReachEachOther) {
  found_ = {{"spark-1", Find("spark-2", "down", "down")},
            {"spark-2", Find("spark-1", "silent", "silent")}};
  const auto block = [&](const NodeName& node, const std::string& netdev) {
    Change port = Named(netdev);
    port.change = ChangeKind::kBlocked;
    port.is_link = true;
    port.node = node;
    changes_.push_back(std::move(port));
  };
  block("spark-1", "enp1s0f1np1");
  EXPECT_FALSE(Run().converged);  // the other rail should work
  block("spark-2", "enP2p1s0f1np1");
  const ConvergeReport report = Run();
  EXPECT_TRUE(report.committed) << FormatErrors(report.errors);
  EXPECT_EQ(report.silent_beacons.size(), 2u);
}

// Nodes that end apart in their links cannot reach each other.
TEST_F(ConvergeBeaconsTest, WhereALinkChangesASilentPeerIsNotAccepted) {
  found_ = {{"spark-1", Find("spark-2", "down", "down")},
            {"spark-2", Find("spark-1", "silent", "silent")}};
  for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    Change port = Named(netdev);
    port.change = ChangeKind::kBlocked;
    port.is_link = true;
    port.node = "spark-1";
    changes_.push_back(std::move(port));
  }
  Change other = Named("enp1s0f0np0");
  other.is_link = true;
  changes_.push_back(std::move(other));
  const ConvergeReport report = Run();
  EXPECT_FALSE(report.committed);
  EXPECT_TRUE(report.reverted);
}

// It found its peers' beacons, and has committed on its own.
TEST_F(ConvergeBeaconsTest, WhereEveryNodeIsNewAfterACommitThatFailedTheApplyIsCommitted) {
  for (Change& change : changes_) change.revert = {RunCommand{{"unset"}}};
  const ConvergeReport report =
      RunFailedCommit({{.name = "spark-1"}, {.name = "spark-2"}, {.name = "spark-3"}});
  EXPECT_EQ(FormatErrors(report.errors), "spark-2: the plan could not be committed: exit 3\n");
  EXPECT_TRUE(report.commit_failed);
  EXPECT_TRUE(report.committed);
  EXPECT_FALSE(report.reverted);
  EXPECT_FALSE(report.converged);
  EXPECT_EQ(report.ends, (std::map<NodeName, NodeEnd>{{"spark-1", NodeEnd::kNew},
                                                      {"spark-2", NodeEnd::kNew},
                                                      {"spark-3", NodeEnd::kAsBefore}}));
  EXPECT_THAT(steps_, Not(Contains("revert")));
}

TEST_F(ConvergeBeaconsTest, ANodeThatRevertedAloneLeavesTheApplyMixed) {
  for (Change& change : changes_) change.revert = {RunCommand{{"unset"}}};
  left_ = {changes_[1]};
  const ConvergeReport report = RunFailedCommit({{.name = "spark-1"}, {.name = "spark-2"}});
  EXPECT_TRUE(report.commit_failed);
  EXPECT_FALSE(report.committed);
  EXPECT_FALSE(report.reverted);
  EXPECT_EQ(report.ends, (std::map<NodeName, NodeEnd>{{"spark-1", NodeEnd::kNew},
                                                      {"spark-2", NodeEnd::kAsBefore}}));
}

TEST_F(ConvergeBeaconsTest, ANodeWithoutPeersHasNothingToProve) {
  changes_.pop_back();
  EXPECT_TRUE(Run().converged);
  EXPECT_THAT(steps_, ElementsAre("record_intent", "commit"));
}

}  // namespace
}  // namespace reconciler
