#include "reconciler/apply/converge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "reconciler/apply/guard/beacon_proof.h"
#include "reconciler/apply/guard/guard.h"
#include "reconciler/apply/proof.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/model/find.h"
#include "reconciler/planning/half_cable.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

constexpr int kMostPasses = 3;  // a key made in the first is used in the second
constexpr int kMostProofs = 3;  // of the beacons, while one of them is silent
// More of them: a node looks for seconds whether its link-local address is free (RFC 3927: 9 s).
constexpr int kReadingsForLinkLocal = 12;

void Merge(ApplyReport&& pass, ApplyReport& all) {
  all.interrupted |= pass.interrupted;
  for (auto& [name, node] : pass.nodes) {
    NodeApply& into = all.nodes[name];
    for (auto& [id, outcome] : node.changes) into.changes[id] = outcome;
    for (Error& error : node.errors) into.errors.push_back(std::move(error));
  }
}

Error MakeDifferenceError(const Change& change) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("{} {} still differs after the apply: {}", change.kind,
                                 MakePrintable(change.name), MakePrintable(change.detail)),
          .where = change.where.file.empty() ? std::nullopt : std::optional(change.where),
          .context = {change.node},
          .hint = "another program may write it too; plan again to see it"};
}

// `changed`: it was carried out, and not only announced.
Error MakeNotReadBackError(const Change& change, bool changed) {
  const std::string thing = fmt::format("{} {} {}", change.kind, MakePrintable(change.name),
                                        changed ? "was changed" : "is still to be changed");
  return {.kind = ErrorKind::kApply,
          .message =
              IsUnreadable(change)
                  ? fmt::format("{} and cannot be read {}: {}", thing, changed ? "back" : "now",
                                ExplainUnreadable(change))
                  : fmt::format("{} and is blocked now: {}", thing, MakePrintable(change.detail)),
          .where = change.where.file.empty() ? std::nullopt : std::optional(change.where),
          .context = {change.node},
          .hint = "what it is now is not known; plan again to see it"};
}

// One run of Converge: the passes, and how it ends.
class Run {
 public:
  Run(const Plan& plan, const ClusterSpec& cluster, const Fabric& fabric, Sessions& sessions,
      NodePool& pool, const Replan& replan, const OnEvent& on_event, const ConvergeOptions& options)
      : plan_(plan),
        cluster_(cluster),
        fabric_(fabric),
        sessions_(sessions),
        pool_(pool),
        replan_(replan),
        on_event_([this, &on_event](Event event) {
          event.apply_id = apply_id_;
          on_event(event);
        }),
        options_(options),
        apply_id_(MakeApplyId(plan)),
        guard_(cluster, sessions, apply_id_, options.times),
        journal_{.directory = GetJournalDirectory(apply_id_)} {
    report_.apply_id = apply_id_;
  }

  ConvergeReport Execute() {
    reached_before_ = ProbePairs(fabric_, ListPresentNodes(), pool_, Moment::kBeforeChange);
    pool_.DropAll();  // from here on every login is a new one, beside the sessions
    if (RunPasses() && Prove() && !IsInterrupted()) Commit();
    if (report_.committed) {
      ReadBack();
    } else if (!report_.commit_failed) {
      Revert();
    }
    if (!report_.converged && !report_.reverted) RecordNodeEnds();
    if (report_.commit_failed) JudgeFailedCommit();
    return std::move(report_);
  }

 private:
  // By now each node has decided on its own: without its peers' beacons it has reverted the plan,
  // and with them it has committed.
  void JudgeFailedCommit() {
    const auto& ends = report_.ends;
    report_.reverted = std::all_of(
        ends.begin(), ends.end(), [](const auto& one) { return one.second == NodeEnd::kAsBefore; });
    report_.committed =
        !report_.reverted && std::all_of(ends.begin(), ends.end(), [&](const auto& one) {
          return one.second == NodeEnd::kNew || !HasChanges(plan_, one.first);
        });
  }

  // The nodes that this run can reach.
  std::vector<const NodeSpec*> ListPresentNodes() const {
    std::vector<const NodeSpec*> nodes;
    for (const PlanNode& node : plan_.nodes) {
      if (!node.unreachable.empty()) continue;
      if (const NodeSpec* spec = cluster_.FindNode(node.name)) nodes.push_back(spec);
    }
    return nodes;
  }

  // Some nodes may be as before and others not: each is read, and said for itself.
  void RecordNodeEnds() {
    pool_.DropAll();
    const auto fresh = replan_({});
    for (const PlanNode& node : plan_.nodes) {
      if (!node.unreachable.empty()) continue;
      report_.ends[node.name] = fresh ? JudgeNodeEnd(node.name, *fresh) : NodeEnd::kUnknown;
    }
  }

  NodeEnd JudgeNodeEnd(const NodeName& name, const Plan& fresh) const {
    const PlanNode* node = FindNode(fresh, name);
    if (node != nullptr && !node->unreachable.empty()) return NodeEnd::kUnknown;
    const Plan was = LimitToNode(options_.before, name);
    const Plan is = LimitToNode(fresh, name);
    if (FindNotReverted(was, is).empty()) return NodeEnd::kAsBefore;
    for (const Change* change : ListBlockedSince(was, is)) {
      if (IsUnreadable(*change)) return NodeEnd::kUnknown;
    }
    return RemoveChanges(is, options_.beside).Empty() ? NodeEnd::kNew : NodeEnd::kMixed;
  }

  // Nothing is committed that someone wanted stopped.
  bool IsInterrupted() {
    report_.applied.interrupted |= options_.should_stop && options_.should_stop();
    return report_.applied.interrupted;
  }

  // True when the last reading shows nothing that differs.
  bool RunPasses() {
    const std::set<std::string> announced = ListDeferredIds(plan_);
    Plan next = plan_;
    for (int pass = 1; pass <= kMostPasses; ++pass) {
      if (pass > 1) on_event_({EventType::kPass, "", fmt::format("pass {}", pass), ""});
      for (auto& [node, files] : ListTrials(next)) {
        std::vector<TrialFile>& all = trials_[node];
        all.insert(all.end(), files.begin(), files.end());
      }
      if (!RecordErrors(guard_.StageAndArm(next, fabric_, journal_))) return false;
      report_.passes.push_back(next);
      on_event_({EventType::kArmed, "", "", ""});
      Merge(Apply(next, cluster_, sessions_, journal_, on_event_, options_.should_stop),
            report_.applied);
      if (!report_.applied.Ok() || !ReadUntilSettled(announced)) return false;
      if (report_.remaining.Empty()) return RecordErrors(FindNotReadBack());
      if (!HasOnlyAnnounced(report_.remaining, announced)) break;
      next = report_.remaining;
    }
    RecordErrors(FindNotReadBack());
    return false;
  }

  bool WasCarriedOut(const std::string& id) const {
    return std::any_of(report_.passes.begin(), report_.passes.end(), [&](const Plan& pass) {
      const Change* change = FindChange(pass, id);
      return change != nullptr && !change->deferred;
    });
  }

  // What still differs, and what this apply changed and cannot be judged any more. What was only
  // announced, and is blocked for a reason that is known by now, stays blocked.
  Errors FindNotReadBack() const {
    Errors errors;
    std::set<std::string> ids;
    for (const Plan& pass : report_.passes) {
      for (const Change* change : ListBlockedSince(pass, report_.remaining)) {
        if (!ids.insert(change->Id()).second) continue;
        const bool was_carried_out = WasCarriedOut(change->Id());
        if (!was_carried_out && !IsUnreadable(*change)) continue;
        errors.push_back(MakeNotReadBackError(*change, was_carried_out));
      }
    }
    ForEachChange(report_.remaining,
                  [&](const Change& change) { errors.push_back(MakeDifferenceError(change)); });
    return errors;
  }

  // New logins prove that the nodes can still be reached.
  bool ReadUntilSettled(const std::set<std::string>& announced) {
    pool_.DropAll();
    return Read(announced, trials_);
  }

  int CountReadings() const {
    const bool link_local = std::any_of(fabric_.segments.begin(), fabric_.segments.end(),
                                        [](const Segment& one) { return IsLinkLocal(one); });
    return options_.readings + (link_local ? kReadingsForLinkLocal : 0);
  }

  // Links get time to settle.
  bool Read(const std::set<std::string>& announced, const Trials& trials) {
    for (int reading = 0; reading < CountReadings(); ++reading) {
      if (reading > 0) std::this_thread::sleep_for(options_.between_readings);
      auto fresh = replan_(trials);
      if (!fresh) return RecordErrors({std::move(fresh).error()});
      report_.remaining = RemoveChanges(std::move(*fresh), options_.beside);
      const bool settled = !HasNewProblem(plan_, report_.remaining) && !FindLostNode();
      if (settled && HasOnlyAnnounced(report_.remaining, announced)) break;
    }
    if (const PlanNode* lost = FindLostNode()) {
      return RecordErrors({{.kind = ErrorKind::kApply,
                            .message = "no new login after the apply: " + lost->unreachable,
                            .context = {lost->name}}});
    }
    return true;
  }

  // A node that was there before the apply and is not any more.
  const PlanNode* FindLostNode() const {
    for (const PlanNode& now : report_.remaining.nodes) {
      if (now.unreachable.empty()) continue;
      const PlanNode* before = FindNode(plan_, now.name);
      if (before != nullptr && before->unreachable.empty()) return &now;
    }
    return nullptr;
  }

  bool Prove() {
    if (options_.allow_unproven) return true;
    Errors unproven = FindUnprovenPairs(
        reached_before_, ProbePairs(fabric_, ListPresentNodes(), pool_, Moment::kAfterChange),
        plan_, fabric_);
    if (!unproven.empty() && options_.why_unproven) {
      for (std::string& line : options_.why_unproven()) {
        unproven.push_back({.kind = ErrorKind::kApply, .message = std::move(line)});
      }
    }
    return RecordErrors(std::move(unproven));
  }

  bool ProveBeacons() {
    auto found = guard_.ProveBeacons(fabric_);
    // What manages the network may still configure a port whose link came late, and removes the
    // addresses that it does not know: all nodes show theirs again.
    for (int proof = 1; proof < kMostProofs && found && !FindMissingBeacons(*found).empty();
         ++proof) {
      found = guard_.ProveBeacons(fabric_);
    }
    if (!found) return RecordErrors(std::move(found).error());
    Errors missing = FindMissingBeacons(*found);
    if (!missing.empty()) return RecordErrors(std::move(missing));
    report_.silent_beacons = FindSilentBeacons(*found);
    return true;
  }

  // Those without which nothing is committed. Where this apply changes a link, each node must
  // follow its peers, those behind blocked ports too.
  Errors FindMissingBeacons(const std::map<NodeName, BeaconPaths>& found) const {
    if (options_.allow_silent_beacons) return {};
    const PortNames blocked = ChangesLink() ? PortNames() : ListBlockedPortNames();
    return FindSilentBeacons(RemovePeersBehindBlocked(found, blocked, fabric_));
  }

  bool ChangesLink() const {
    bool changes = false;
    ForEachChange(plan_, [&](const Change& change) { changes |= change.is_link; });
    return changes;
  }

  PortNames ListBlockedPortNames() const {
    PortNames names;
    for (const Change* port : ListBlockedPorts(plan_, fabric_)) {
      names.insert({port->node, port->name});
    }
    return names;
  }

  void Commit() {
    const auto documents = [&](const NodeName& node) {
      return options_.documents ? options_.documents(node, report_.passes) : Documents();
    };
    if (!ProveBeacons() || IsInterrupted()) return;
    if (!RecordErrors(guard_.RecordIntent(fabric_, documents))) return;
    on_event_({EventType::kReady, "", "", ""});
    if (IsInterrupted()) return;  // the last moment: what comes later stops nothing any more
    report_.committed = RecordErrors(guard_.Commit());
    RecordNotes();
    report_.commit_failed = !report_.committed;
    if (report_.committed) RecordErrors(guard_.Finish());
  }

  // The trial has become the state proper: it is read as any other.
  void ReadBack() {
    if (!Read({}, {})) return;
    RecordErrors(FindNotReadBack());
    report_.converged = report_.errors.empty();
    if (!report_.converged) return;
    const RoundTrips most = sessions_.FindMostRoundTrips();
    on_event_({EventType::kConverged, "", "",
               fmt::format("{} requests and {} readings on a node at most", most.requests,
                           most.readings)});
  }

  void Revert() {
    if (!guard_.IsArmed()) {
      report_.reverted = true;
      return;
    }
    on_event_({EventType::kReverting, "", "", ""});
    const bool ended = RecordErrors(guard_.Revert(ListNodesInAStep()));
    RecordNotes();
    if (!ended) return;
    pool_.DropAll();
    Errors left;
    for (int reading = 0; reading < CountReadings(); ++reading) {
      if (reading > 0) std::this_thread::sleep_for(options_.between_readings);
      const auto fresh = replan_({});
      left = fresh ? FindNotReverted(options_.before, *fresh) : Errors{fresh.error()};
      if (left.empty()) break;
    }
    report_.reverted = RecordErrors(std::move(left));
    ForEachChange(plan_, [&](const Change& change) {
      const auto node = report_.applied.nodes.find(change.node);
      if (node == report_.applied.nodes.end() || !IsKept(change)) return;
      const auto outcome = node->second.changes.find(change.Id());
      const bool done =
          outcome != node->second.changes.end() && outcome->second == ChangeOutcome::kDone;
      if (done) report_.kept.push_back(change.Id());
    });
    if (report_.reverted) on_event_({EventType::kReverted, "", "", ""});
  }

  // However the apply ends.
  void RecordNotes() {
    report_.notes = guard_.notes();
    for (const auto& [node, notes] : report_.notes) {
      for (const std::string& note : notes) on_event_({EventType::kNote, node, "", note});
    }
  }

  // Nodes whose connection broke while they were running.
  std::set<NodeName> ListNodesInAStep() const {
    std::set<NodeName> nodes;
    for (const auto& [name, node] : report_.applied.nodes) {
      for (const auto& [id, outcome] : node.changes) {
        if (outcome == ChangeOutcome::kUnknown) nodes.insert(name);
      }
    }
    return nodes;
  }

  bool RecordErrors(Errors errors) {
    for (Error& error : errors) report_.errors.push_back(std::move(error));
    return errors.empty();
  }

  const Plan& plan_;
  const ClusterSpec& cluster_;
  const Fabric& fabric_;
  Sessions& sessions_;
  NodePool& pool_;
  const Replan& replan_;
  OnEvent on_event_;  // with the id of this apply
  const ConvergeOptions& options_;
  std::string apply_id_;
  Guard guard_;
  Journal journal_;
  Trials trials_ = {};
  Pairs reached_before_ = {};
  ConvergeReport report_;
};

}  // namespace

std::string_view ToString(NodeEnd end) {
  switch (end) {
    case NodeEnd::kAsBefore:
      return "as before";
    case NodeEnd::kNew:
      return "new";
    case NodeEnd::kMixed:
      return "mixed";
    case NodeEnd::kUnknown:
      return "unknown";
  }
  return "";
}

ConvergeReport Converge(const Plan& plan, const ClusterSpec& cluster, const Fabric& fabric,
                        Sessions& sessions, NodePool& pool, const Replan& replan,
                        const OnEvent& on_event, const ConvergeOptions& options) {
  return Run(plan, cluster, fabric, sessions, pool, replan, on_event, options).Execute();
}

}  // namespace reconciler
