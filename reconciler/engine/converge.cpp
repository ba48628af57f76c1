#include "reconciler/engine/converge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/engine/apply_script.h"
#include "reconciler/engine/guard.h"
#include "reconciler/engine/plan_compare.h"

namespace reconciler {
namespace {

constexpr int kMostPasses = 3;  // a key made in the first is used in the second

std::set<std::string> DeferredIds(const Plan& plan) {
  std::set<std::string> ids;
  ForEachChange(plan, [&](const Change& change) {
    if (change.deferred) ids.insert(change.Id());
  });
  return ids;
}

bool OnlyAnnounced(const Plan& plan, const std::set<std::string>& announced) {
  bool only = true;
  ForEachChange(plan, [&](const Change& change) { only &= announced.contains(change.Id()); });
  return only;
}

// A link that is being configured can look unknown for a moment: what was not blocked before the
// apply is given time to become readable again.
bool NewlyBlocked(const Plan& before, const Plan& after) {
  for (const Stage& stage : after.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) continue;
      const Change* earlier = FindChange(before, change.Id());
      if (earlier == nullptr || earlier->change != ChangeKind::kBlocked) return true;
    }
  }
  return false;
}

// The plan without the changes that are none of its business.
Plan Without(Plan plan, const std::set<std::string>& beside) {
  if (beside.empty()) return plan;
  for (Stage& stage : plan.stages) {
    std::erase_if(stage.changes,
                  [&](const Change& change) { return beside.contains(change.Id()); });
  }
  return plan;
}

void Merge(ApplyReport&& pass, ApplyReport& all) {
  all.interrupted |= pass.interrupted;
  for (auto& [name, node] : pass.nodes) {
    NodeApply& into = all.nodes[name];
    for (auto& [id, outcome] : node.changes) into.changes[id] = outcome;
    for (Error& error : node.errors) into.errors.push_back(std::move(error));
  }
}

Error StillDiffers(const Change& change) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("{} {} still differs after the apply: {}", change.kind,
                                 Printable(change.name), Printable(change.detail)),
          .where = change.where.file.empty() ? std::nullopt : std::optional(change.where),
          .context = {change.node},
          .hint = "somebody else may write it too; plan again to see it"};
}

// One run of Converge: the passes, and how it ends.
class Run {
 public:
  Run(const Plan& plan, const ClusterSpec& cluster, NodePool& pool, const Replan& replan,
      const OnEvent& on_event, const ConvergeOptions& options)
      : plan_(plan),
        cluster_(cluster),
        pool_(pool),
        replan_(replan),
        on_event_(on_event),
        options_(options),
        apply_id_(NewApplyId(plan)),
        guard_(cluster, pool, apply_id_),
        journal_{.directory = JournalDirectory(apply_id_)} {
    report_.apply_id = apply_id_;
  }

  ConvergeReport Do() {
    if (Passes() && !Interrupted()) Commit();
    if (!report_.converged) Undo();
    return std::move(report_);
  }

 private:
  // Nothing is committed that somebody wanted stopped.
  bool Interrupted() {
    report_.applied.interrupted |= options_.should_stop && options_.should_stop();
    return report_.applied.interrupted;
  }

  // True when the last reading shows nothing that differs.
  bool Passes() {
    const std::set<std::string> announced = DeferredIds(plan_);
    Plan next = plan_;
    for (int pass = 1; pass <= kMostPasses; ++pass) {
      if (pass > 1) on_event_({EventType::kPass, "", fmt::format("pass {}", pass), ""});
      if (!Take(guard_.Arm(next, journal_))) return false;
      report_.passes.push_back(next);
      Merge(Apply(next, cluster_, pool_, journal_, on_event_, options_.should_stop),
            report_.applied);
      if (!report_.applied.Ok() || !Read(announced)) return false;
      if (report_.remaining.Empty()) return true;
      if (!OnlyAnnounced(report_.remaining, announced)) break;
      next = report_.remaining;
    }
    ForEachChange(report_.remaining,
                  [&](const Change& change) { report_.errors.push_back(StillDiffers(change)); });
    return false;
  }

  // New logins prove that the nodes can still be reached; links get time to settle.
  bool Read(const std::set<std::string>& announced) {
    pool_.DropAll();
    for (int reading = 0; reading < options_.readings; ++reading) {
      if (reading > 0) std::this_thread::sleep_for(options_.between_readings);
      auto fresh = replan_();
      if (!fresh) return Take({std::move(fresh).error()});
      report_.remaining = Without(std::move(*fresh), options_.beside);
      const bool settled = !NewlyBlocked(plan_, report_.remaining) && !LostNode();
      if (settled && OnlyAnnounced(report_.remaining, announced)) break;
    }
    if (const PlanNode* lost = LostNode()) {
      return Take({{.kind = ErrorKind::kApply,
                    .message = "no new login after the apply: " + lost->unreachable,
                    .context = {lost->name}}});
    }
    return true;
  }

  // A node that was there before the apply and is not any more.
  const PlanNode* LostNode() const {
    for (const PlanNode& now : report_.remaining.nodes) {
      if (now.unreachable.empty()) continue;
      for (const PlanNode& before : plan_.nodes) {
        if (before.name == now.name && before.unreachable.empty()) return &now;
      }
    }
    return nullptr;
  }

  void Commit() {
    report_.converged = Take(guard_.Commit([&](const NodeName& node) {
      return options_.commit ? options_.commit(node, report_.passes) : CommitTexts{};
    }));
    if (report_.converged) on_event_({EventType::kConverged, "", "", ""});
  }

  void Undo() {
    if (!guard_.Armed()) {
      report_.undone = true;
      return;
    }
    on_event_({EventType::kUndoing, "", "", ""});
    if (!Take(guard_.Revert())) return;
    pool_.DropAll();
    Errors left;
    for (int reading = 0; reading < options_.readings; ++reading) {
      if (reading > 0) std::this_thread::sleep_for(options_.between_readings);
      const auto fresh = replan_();
      left = fresh ? FindNotUndone(options_.before, *fresh) : Errors{fresh.error()};
      if (left.empty()) break;
    }
    report_.undone = Take(std::move(left));
    ForEachChange(plan_, [&](const Change& change) {
      const auto node = report_.applied.nodes.find(change.node);
      if (node == report_.applied.nodes.end() || !IsKept(change)) return;
      const auto outcome = node->second.changes.find(change.Id());
      const bool done =
          outcome != node->second.changes.end() && outcome->second == ChangeOutcome::kDone;
      if (done) report_.kept.push_back(change.Id());
    });
    if (report_.undone) on_event_({EventType::kUndone, "", "", ""});
  }

  bool Take(Errors errors) {
    for (Error& error : errors) report_.errors.push_back(std::move(error));
    return errors.empty();
  }

  const Plan& plan_;
  const ClusterSpec& cluster_;
  NodePool& pool_;
  const Replan& replan_;
  const OnEvent& on_event_;
  const ConvergeOptions& options_;
  std::string apply_id_;
  Guard guard_;
  Journal journal_;
  ConvergeReport report_;
};

}  // namespace

ConvergeReport Converge(const Plan& plan, const ClusterSpec& cluster, NodePool& pool,
                        const Replan& replan, const OnEvent& on_event,
                        const ConvergeOptions& options) {
  return Run(plan, cluster, pool, replan, on_event, options).Do();
}

}  // namespace reconciler
