#include "reconciler/apply/cluster_apply.h"

#include <algorithm>
#include <utility>

#include "reconciler/apply/guard/guard.h"
#include "reconciler/cabling/observe/observe_cabling.h"
#include "reconciler/node/lock.h"
#include "reconciler/planning/foreign.h"
#include "reconciler/planning/half_cable.h"
#include "reconciler/planning/may_apply.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/planning/unfinished.h"

namespace reconciler {
namespace {

constexpr std::chrono::seconds kAlive{20};          // between two signs of life
constexpr std::chrono::seconds kLeastPatience{30};  // one of them may be late

// Prunes that only their commands' success proves: see PlanScope::pruned.
std::set<std::string> FindUnseenPrunes(const Plan& plan) {
  std::set<std::string> ids;
  ForEachChange(plan, [&](const Change& change) {
    const bool file = std::any_of(
        change.actions.begin(), change.actions.end(),
        [](const Action& action) { return !std::holds_alternative<RunCommand>(action); });
    if (change.prune && !file) ids.insert(change.Id());
  });
  return ids;
}

// What carrying `plan` out would end. `now` is the plan of the newest facts: jobs come and go, so
// what counts is which jobs run now, on what `plan` changes.
std::vector<std::string> ListEndedWork(const Plan& plan, Plan now) {
  for (Stage& stage : now.stages) {
    std::erase_if(stage.changes,
                  [&](const Change& change) { return FindChange(plan, change.Id()) == nullptr; });
  }
  return ListInterruptions(now);
}

std::optional<ApplyRefusal> RefuseIfAny(RefusalKind kind, Errors errors) {
  if (errors.empty()) return std::nullopt;
  return ApplyRefusal{.kind = kind, .errors = std::move(errors)};
}

std::optional<ApplyRefusal> RefuseIfAny(RefusalKind kind, std::vector<std::string> lines) {
  if (lines.empty()) return std::nullopt;
  return ApplyRefusal{.kind = kind, .lines = std::move(lines)};
}

// Then the cables' ends are checked before a change: a wrong cable is no reason to leave a key as
// it is.
bool SetsLinks(const std::vector<Plugin>& plugins, const PlanScope& scope) {
  return !scope.uninstall && std::any_of(plugins.begin(), plugins.end(), [&](const Plugin& plugin) {
    return plugin.sets_links && IsSelected(scope.only, plugin.name);
  });
}

// The manifest requires what the facts rule out.
ApplyRefusal RefuseRuledOut(const Plan& now) {
  ApplyRefusal refusal{.kind = RefusalKind::kNotAllowed};
  for (const Diagnostic& one : now.diagnostics) {
    if (one.severity == Severity::kBlocks && one.change.empty()) refusal.diagnostics.push_back(one);
  }
  return refusal;
}

}  // namespace

ClusterApply::ClusterApply(ClusterApplyInput input, ClusterApplyOptions options,
                           ClusterApplyHooks hooks, NodePool& pool)
    : cluster_(input.cluster),
      fabric_(input.fabric),
      located_(input.cluster, input.fabric, {}),
      plugins_(input.plugins),
      scope_(std::move(input.scope)),
      options_(options),
      hooks_(std::move(hooks)),
      pool_(pool),
      keeper_(input.cluster, std::move(input.info), scope_.uninstall, pool) {}

// Then nothing of the pool's runs there any more.
ClusterApply::~ClusterApply() { pool_.RunElsewhere(nullptr); }

Proposal ClusterApply::Propose(const std::optional<Plan>& saved) {
  auto fresh = Replan({});
  if (!fresh) {
    return {.refusal =
                ApplyRefusal{.kind = RefusalKind::kNoPlan, .errors = {std::move(fresh).error()}}};
  }
  ended_unfinished_ = false;  // what is proposed is planned without them
  is_saved_ = saved.has_value();
  if (locks_ahead_) read_ahead_ = *fresh;
  located_ = LocatedCluster(cluster_, fabric_, facts_);
  if (auto refusal = FindUnreached()) {
    Plan selected = saved ? SelectChanges(std::move(*fresh), *saved) : std::move(*fresh);
    return {.plan = std::move(selected), .refusal = std::move(refusal)};
  }
  if (auto refusal = FindForbidden()) {
    // What seems to forbid it may be a file that a running apply is writing.
    if (Errors running = FindRunning(); !running.empty()) {
      refusal->kind = RefusalKind::kLocked;
      refusal->errors.insert(refusal->errors.begin(), running.begin(), running.end());
    }
    return {.plan = std::move(*fresh), .refusal = std::move(refusal)};
  }
  if (sessions_ == nullptr) {
    auto unfinished = ListUnfinished(facts_);
    if (!unfinished.empty()) return {.unfinished = std::move(unfinished)};
  }
  if (saved) {
    // A saved plan does not hold what others wrote.
    const Plan shown = HideForeignContent(*fresh);
    if (auto stale = RefuseIfAny(RefusalKind::kStale, FindStale(*saved, shown))) {
      return {.refusal = std::move(stale)};
    }
  }
  Proposal proposal{.plan = saved ? SelectChanges(*fresh, *saved) : *fresh};
  proposal.refusal = FindRefusal(*proposal.plan, *fresh);
  proposal.needs_work =
      !proposal.plan->Empty() || !keeper_.ListNodesToSettle(*proposal.plan, facts_).empty();
  if (saved) proposal.beside = FindIdsBeside(*saved, *fresh).size();
  return proposal;
}

// A node that did not answer the first time is not waited for again.
Result<Plan> ClusterApply::Replan(const Trials& trials) {
  PlanScope scope = scope_;
  if (!absent_.empty()) {
    scope.nodes.clear();
    for (const NodeSpec* node : SelectNodes(cluster_, scope_.nodes)) {
      if (!absent_.contains(node->name)) scope.nodes.push_back(node->name);
    }
  }
  const bool is_first = facts_.nodes.empty();
  facts_ = hooks_.read(scope, trials);
  if (is_first) absent_ = facts_.unreachable;
  facts_.unreachable.insert(absent_.begin(), absent_.end());
  return MakePlan(cluster_, fabric_, facts_, plugins_, scope_);
}

// An apply to a part of the nodes is nothing that may happen by chance.
std::optional<ApplyRefusal> ClusterApply::FindUnreached() const {
  if (options_.allow_unreached) return std::nullopt;
  std::vector<std::string> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    if (facts_.unreachable.contains(node.name)) nodes.push_back(node.name);
  }
  return RefuseIfAny(RefusalKind::kUnreached, std::move(nodes));
}

std::vector<NodeName> ClusterApply::ListAbsent() const {
  std::vector<NodeName> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    if (absent_.contains(node.name)) nodes.push_back(node.name);
  }
  return nodes;
}

// Uninstalling drops the nodes of the manifest, so that a lost one does no harm.
std::optional<ApplyRefusal> ClusterApply::FindForbidden() const {
  const bool may_lose_nodes = options_.allow_node_removal || scope_.uninstall;
  return RefuseIfAny(RefusalKind::kNotAllowed, CheckMayApply(cluster_, facts_, may_lose_nodes));
}

Errors ClusterApply::FindRunning() const {
  Errors errors;
  if (sessions_ != nullptr) return errors;  // the lease is our own
  for (const NodeSpec* node : ListReached()) {
    const std::string* lease = Known(facts_.nodes.at(node->name).apply.lease);
    if (lease != nullptr) errors.push_back(MakeLockedError(node->name, *lease));
  }
  return errors;
}

std::optional<ApplyRefusal> ClusterApply::FindRefusal(const Plan& plan, const Plan& now) const {
  if (auto refusal = FindUnreached()) return refusal;
  if (auto refusal = FindForbidden()) return refusal;
  if (now.IsRefused()) return RefuseRuledOut(now);
  if (!options_.allow_half_cables) {
    if (auto refusal = RefuseIfAny(RefusalKind::kHalfCables,
                                   FindHalfCables(plan, now, located_.fabric(), facts_))) {
      return refusal;
    }
  }
  if (options_.interrupt) return std::nullopt;
  return RefuseIfAny(RefusalKind::kInterrupts, ListEndedWork(plan, now));
}

std::vector<const NodeSpec*> ClusterApply::ListReached() const {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    if (facts_.nodes.contains(node.name)) nodes.push_back(&node);
  }
  return nodes;
}

Result<std::unique_ptr<Sessions>> ClusterApply::OpenLocks(const std::vector<const NodeSpec*>& nodes,
                                                          LockNodes which) {
  Patience patience;
  patience.later = std::max(kLeastPatience, std::chrono::seconds(options_.times.revert_after));
  return Sessions::OpenAll(nodes, pool_, FormatLease(), patience, which);
}

// Until the proof, which logs in again, all that is read goes through the sessions.
void ClusterApply::Hold(std::unique_ptr<Sessions> sessions) {
  sessions_ = std::move(sessions);
  pool_.RunElsewhere(sessions_->MakeElsewhere());
}

void ClusterApply::LockAhead() {
  const std::vector<const NodeSpec*> nodes = SelectNodes(cluster_, scope_.nodes);
  // Nothing is to be left where we never were.
  if (scope_.uninstall || !pool_.OpenAhead(nodes)) return;
  auto sessions = OpenLocks(nodes, LockNodes::kKnown);
  if (!sessions || !(*sessions)->GetLeftOut().empty()) return;
  const auto unfinished = HasUnfinishedApplies(nodes, **sessions);
  if (!unfinished || *unfinished) return;
  alive_ = (*sessions)->Beat(":", kAlive);
  Hold(std::move(*sessions));
  locks_ahead_ = true;
}

// The nodes' locks, with nothing of an earlier apply left open.
std::optional<ApplyRefusal> ClusterApply::OpenSessions() {
  const std::vector<const NodeSpec*> reached = ListReached();
  auto sessions = OpenLocks(reached);
  if (!sessions) {
    const bool locked = sessions.error().kind == ErrorKind::kLocked;
    return ApplyRefusal{.kind = locked ? RefusalKind::kLocked : RefusalKind::kNoSession,
                        .errors = {std::move(sessions).error()}};
  }
  if (auto lost = RefuseIfAny(RefusalKind::kNodeLost, (*sessions)->GetLeftOut())) return lost;
  std::jthread alive = (*sessions)->Beat(":", kAlive);
  const bool whole = reached.size() == cluster_.nodes.size();
  const EndedApplies unfinished = EndUnfinishedApplies(reached, whole, **sessions);
  for (const std::string& line : unfinished.lines) hooks_.on_unfinished(line);
  if (unfinished.error) {
    ApplyRefusal refusal{.kind = RefusalKind::kStillUnfinished, .errors = {*unfinished.error}};
    for (const NodeSpec* node : reached) refusal.lines.push_back(node->name);
    return refusal;
  }
  ended_unfinished_ = !unfinished.lines.empty();
  Hold(std::move(*sessions));
  alive_ = std::move(alive);
  return std::nullopt;
}

std::optional<ApplyRefusal> ClusterApply::CheckCabling() {
  CablingReport report =
      JudgeCabling(located_.spec(), ObserveCabling(located_.spec(), ListReached(), pool_));
  hooks_.on_cabling(report);
  if (options_.allow_wrong_cables) return std::nullopt;
  return RefuseIfAny(RefusalKind::kWrongCables, std::move(report.wrong));
}

ClusterApplyResult ClusterApply::CarryOut(const Plan& approved) {
  if (sessions_ == nullptr) {
    if (auto refusal = OpenSessions()) return {.refusal = std::move(refusal)};
  }
  // Under the lock no other apply changes anything: what was approved must still fit.
  const auto now =
      read_ahead_ ? Result<Plan>(*std::exchange(read_ahead_, std::nullopt)) : Replan({});
  if (!now) return {.refusal = ApplyRefusal{.kind = RefusalKind::kNoPlan, .errors = {now.error()}}};
  located_ = LocatedCluster(cluster_, fabric_, facts_);
  // What an earlier apply left was in the plan's facts, and is gone now. To a saved plan other
  // drift does not matter, whenever it came.
  const std::set<std::string> beside = FindIdsBeside(approved, *now);
  if (!is_saved_ && !beside.empty() && (approved.Empty() || ended_unfinished_)) {
    return {.refusal = ApplyRefusal{.kind = RefusalKind::kNewDrift}};
  }
  if (auto stale = RefuseIfAny(RefusalKind::kStale, FindMoved(approved, *now))) {
    return {.refusal = std::move(stale)};
  }
  const Plan plan = SelectChanges(*now, approved);
  if (auto refusal = FindRefusal(plan, *now)) return {.refusal = std::move(refusal)};
  if (auto refusal = RefuseIfAny(RefusalKind::kNotAllowed, keeper_.FindTooLarge(plan, facts_))) {
    return {.refusal = std::move(refusal)};
  }
  if (!plan.Empty() && SetsLinks(plugins_, scope_)) {
    if (auto refusal = CheckCabling()) return {.refusal = std::move(refusal)};
  }
  keeper_.Begin(plan, facts_);
  if (plan.Empty()) {
    return Settle(
        plan, {.beside = beside.size(), .remaining = RemoveDropped(RemoveChanges(*now, beside))});
  }

  ClusterApplyResult result{.report = RunConverge(plan, *now, beside), .beside = beside.size()};
  result.remaining = RemoveDropped(result.report->remaining);
  if (!result.report->converged) return result;
  passes_ = result.report->passes;
  return Settle(plan, std::move(result));
}

ConvergeReport ClusterApply::RunConverge(const Plan& plan, const Plan& now,
                                         const std::set<std::string>& beside) {
  scope_.pruned = FindUnseenPrunes(plan);
  hooks_.on_changing();
  return Converge(
      plan, located_.spec(), located_.fabric(), *sessions_, pool_,
      [&](const Trials& trials) { return Replan(trials); },
      [&](const Event& event) {
        if (event.type == EventType::kReverting) scope_.pruned.clear();  // they are due again
        hooks_.on_event(event);
      },
      {.should_stop = hooks_.should_stop,
       .before = now,
       .beside = beside,
       .documents =
           [&](const NodeName& node, const std::vector<Plan>& passes) {
             return keeper_.MakeDocuments(node, passes);
           },
       .times = options_.times,
       .allow_unproven = options_.allow_unproven || scope_.uninstall,  // links go away on purpose
       .allow_silent_beacons = options_.allow_silent_beacons || scope_.uninstall,
       // Ports that were down before have a link now.
       .why_unproven =
           [&] {
             return JudgeCabling(located_.spec(),
                                 ObserveCabling(located_.spec(), ListReached(), pool_))
                 .wrong;
           }});
}

// What follows a commit, or stands for one where no node had to be changed.
ClusterApplyResult ClusterApply::Settle(const Plan& plan, ClusterApplyResult result) {
  result.ledger_errors = keeper_.Settle(plan);
  if (result.ledger_errors.empty() && !passes_.empty() && !scope_.uninstall) {
    result.ledger_errors = keeper_.RecordGeneration(passes_, result.beside == 0);
  }
  if (result.ledger_errors.empty() && scope_.uninstall) {
    result.uninstall = keeper_.FinishUninstall(result.remaining);
  }
  return result;
}

VerificationNeed ClusterApply::FindVerificationNeed(const Plan& remaining) const {
  return reconciler::FindVerificationNeed(located_.spec(), located_.fabric(), facts_, scope_,
                                          remaining);
}

Errors ClusterApply::RecordVerification(VerificationOutcome outcome) {
  if (passes_.empty()) return {};
  return keeper_.RecordVerification(outcome);
}

}  // namespace reconciler
