#include "reconciler/cli/apply/apply_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>

#include "plugins/registry.h"
#include "reconciler/apply/converge.h"
#include "reconciler/apply/guard/guard.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/apply/apply_refusals.h"
#include "reconciler/cli/apply/apply_report.h"
#include "reconciler/cli/apply/cabling_run.h"
#include "reconciler/cli/apply/event_log.h"
#include "reconciler/cli/apply/git_info.h"
#include "reconciler/cli/apply/ledger_keeper.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/node/lock.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/planning/render.h"
#include "reconciler/transport/ssh/dial.h"

namespace reconciler::cli {
namespace {

constexpr std::chrono::seconds kAlive{20};  // between two signs of life

volatile std::sig_atomic_t interrupted = 0;

// Ctrl-C, a lost terminal or a cancelled job: the apply ends before its next stage and is taken
// back. The second one ends the program at once, and then the nodes take it back by themselves.
void OnInterrupt(int signal) {
  constexpr std::string_view kNote =
      "stopping before the next stage, then every node takes it back\n";
  static_cast<void>(!write(STDERR_FILENO, kNote.data(), kNote.size()));
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

void SetInterruptHandler(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, handler);
}

int Finish(const ConvergeReport& report, const ClusterFacts& facts) {
  if (!report.converged) {
    if (!report.reverted) return kMixed;
    return report.applied.interrupted ? kInterrupted : kReverted;
  }
  if (!facts.unreachable.empty()) return kNodeUnreadable;
  return report.remaining.BlockedCount() > 0 ? kPending : kFine;
}

// Prunes that nothing but their commands' success tells of: see PlanScope::pruned.
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

// One apply from the facts to the report.
class ApplyRun {
 public:
  ApplyRun(const Cluster& cluster, const PlanScope& scope, const GenerationInfo& info,
           const ApplyFlags& flags, const Context& context)
      : cluster_(cluster),
        scope_(scope),
        flags_(flags),
        context_(context),
        pool_(DialNode),
        keeper_(cluster.spec, info, scope.uninstall, pool_) {}

  int Execute(const std::optional<Plan>& saved) {
    const auto fresh = Replan({});
    if (!fresh) return Complain(fresh.error(), kUsageOrManifest);
    if (saved) {
      if (const int refused = RefuseStale(*saved, *fresh); refused != kFine) return refused;
    }
    const Plan& plan = saved ? *saved : *fresh;
    std::cout << RenderText(plan, {.colour = context_.ColourOnStdout(), .diffs = !flags_.brief})
              << std::flush;
    if (const int refused = CheckRefusals(plan, *fresh); refused != kFine) return refused;
    const bool nothing =
        plan.Empty() && !IsUnfinished() && keeper_.ListNodesToSettle(plan, facts_).empty();
    if (nothing) {
      const int code = FindExitCode(plan);
      return scope_.uninstall && code == kFine ? keeper_.ReportUnledgered(facts_)
                                               : VerifyResult(code);
    }
    if ((!plan.Empty() || scope_.uninstall) && !AskConfirmation(plan, flags_.yes)) {
      return kUsageOrManifest;
    }
    return CarryOut(plan);
  }

 private:
  // A node that did not answer the first time is not waited for again.
  Result<Plan> Replan(const Trials& trials) {
    Selection selection{.scope = scope_};
    if (!absent_.empty()) {
      selection.scope.nodes.clear();
      for (const NodeSpec* node : SelectNodes(cluster_.spec, scope_.nodes)) {
        if (!absent_.contains(node->name)) selection.scope.nodes.push_back(node->name);
      }
    }
    const bool is_first = facts_.nodes.empty();
    facts_ = GatherWithProgress(cluster_, selection, pool_, trials);
    if (is_first) absent_ = facts_.unreachable;
    facts_.unreachable.insert(absent_.begin(), absent_.end());
    return MakePlan(cluster_.spec, cluster_.fabric, facts_, plugins::All(), scope_);
  }

  // Uninstalling forgets the nodes of the manifest, so that a lost one does no harm.
  int CheckRefusals(const Plan& plan, const Plan& now) const {
    if (const int refused = RefuseForeignNodes(cluster_.spec, facts_,
                                               flags_.allow_node_removal || scope_.uninstall);
        refused != kFine) {
      return refused;
    }
    if (const int refused = RefuseRuledOut(cluster_, facts_, scope_); refused != kFine) {
      return refused;
    }
    if (!flags_.allow_half_cables) {
      if (const int refused = RefuseHalfCables(plan, cluster_.fabric, facts_); refused != kFine) {
        return refused;
      }
    }
    return flags_.interrupt ? int{kFine} : RefuseToInterrupt(plan, now);
  }

  // Where nothing differs, an apply that was cut off would still be ended by its guard later.
  bool IsUnfinished() const {
    return std::any_of(facts_.nodes.begin(), facts_.nodes.end(), [](const auto& node) {
      return node.second.values.contains(std::string(kUndecidedKey));
    });
  }

  int FindExitCode(const Plan& plan) const {
    if (!facts_.unreachable.empty()) return kNodeUnreadable;
    return plan.BlockedCount() > 0 ? kPending : kFine;
  }

  std::vector<const NodeSpec*> ListReached() const {
    std::vector<const NodeSpec*> nodes;
    for (const NodeSpec& node : cluster_.spec.nodes) {
      if (facts_.nodes.contains(node.name)) nodes.push_back(&node);
    }
    return nodes;
  }

  // The nodes' locks, with nothing of an earlier apply left open; null: lock_code_ says why not.
  std::unique_ptr<Sessions> OpenSessions() {
    auto sessions = Sessions::OpenAll(ListReached(), pool_, FormatLease());
    if (!sessions) {
      lock_code_ = Complain(sessions.error(),
                            sessions.error().kind == ErrorKind::kLocked ? kLocked : kReverted);
      return nullptr;
    }
    if (const Errors& lost = (*sessions)->LeftOut(); !lost.empty()) {  // since it was read
      std::cerr << FormatErrors(lost);
      lock_code_ = kNodeUnreadable;
      return nullptr;
    }
    const bool whole = ListReached().size() == cluster_.spec.nodes.size();
    const auto leftovers = EndLeftovers(ListReached(), whole, **sessions);
    if (!leftovers) {
      lock_code_ = Complain(leftovers.error(), kMixed);
      for (const NodeSpec* node : ListReached()) std::cout << node->name << ": unknown\n";
      return nullptr;
    }
    for (const std::string& line : *leftovers) std::cerr << line << '\n';
    ended_leftovers_ = !leftovers->empty();
    return std::move(*sessions);
  }

  int CarryOut(const Plan& plan) {
    const auto sessions = OpenSessions();
    if (sessions == nullptr) return lock_code_;
    // The lock is held to the end of the verification, and shows that somebody is there.
    const std::jthread alive = sessions->Beat(":", kAlive);
    // Under the lock nobody else of us changes anything: what was approved must still fit.
    const auto now = Replan({});
    if (!now) return Complain(now.error(), kUsageOrManifest);
    // What an earlier apply left was in the plan's facts, and is gone now.
    const std::set<std::string> beside = FindIdsBeside(plan, *now);
    if (!beside.empty() && (plan.Empty() || ended_leftovers_)) {
      std::cerr << "what differs now was not in the plan: apply again\n";
      return kStalePlan;
    }
    if (const int refused = RefuseStale(plan, *now); refused != kFine) return refused;
    if (const int refused = CheckRefusals(plan, *now); refused != kFine) return refused;
    const bool needs_cables = !plan.Empty() && !scope_.uninstall;
    if (needs_cables &&
        StopForCabling(cluster_, scope_, ListReached(), pool_, flags_.allow_wrong_cables)) {
      return kPending;
    }
    keeper_.Begin(plan, facts_);
    if (plan.Empty()) return FinishSettled(plan, *now, FindExitCode(*now));

    const auto log = EventLog::Open(flags_.events_file);
    if (!log) return Complain(log.error(), kUsageOrManifest);
    const ConvergeReport report = RunConverge(plan, *now, beside, *sessions, **log);
    PrintOutcome(report);
    if (!beside.empty()) {
      std::cout << FormatPlural(beside.size(), "other difference", "other differences")
                << " from the manifest was not in the plan and is left as it was\n";
    }
    if (!report.converged) return Finish(report, facts_);
    passes_ = report.passes;
    return FinishSettled(plan, report.remaining, Finish(report, facts_));
  }

  ConvergeReport RunConverge(const Plan& plan, const Plan& now, const std::set<std::string>& beside,
                             Sessions& sessions, EventLog& log) {
    scope_.pruned = FindUnseenPrunes(plan);
    SetInterruptHandler(OnInterrupt);
    ConvergeReport report = Converge(
        plan, cluster_.spec, cluster_.fabric, sessions, pool_,
        [&](const Trials& trials) { return Replan(trials); },
        [&](const Event& event) {
          if (event.type == EventType::kReverting) scope_.pruned.clear();  // they are due again
          log.Write(event);
        },
        {.should_stop = [] { return interrupted != 0; },
         .before = now,
         .beside = beside,
         .documents =
             [&](const NodeName& node, const std::vector<Plan>& passes) {
               return keeper_.MakeDocuments(node, passes);
             },
         .times = flags_.times,
         .allow_unproven = flags_.allow_unproven || scope_.uninstall,  // links go away on purpose
         .why_unproven = [&] { return FindWrongCables(cluster_, ListReached(), pool_); }});
    SetInterruptHandler(SIG_DFL);
    return report;
  }

  // What follows a commit, or stands for one where no node had to be changed.
  int FinishSettled(const Plan& plan, const Plan& remaining, int code) {
    const Errors errors = keeper_.Settle(plan);
    std::cerr << FormatErrors(errors);
    if (!errors.empty()) return kMixed;
    if (!scope_.uninstall) return VerifyResult(code);
    const int removed = keeper_.FinishUninstall(remaining);
    const int unledgered = keeper_.ReportUnledgered(facts_);
    if (removed == kFine && code == kFine) return unledgered;
    return removed == kMixed || code == kFine ? removed : code;
  }

  // Half a cluster proves nothing: an apply to some nodes or plugins leaves it to `verify`.
  int VerifyResult(int code) {
    const bool whole = scope_.only.empty() && facts_.nodes.size() == cluster_.spec.nodes.size();
    const bool skipped = flags_.no_verify || scope_.uninstall || !whole;
    if ((code != kFine && code != kPending) || skipped) return code;
    const int verified = VerifyAfterApply(cluster_, facts_, pool_);
    if (!passes_.empty()) std::cerr << FormatErrors(keeper_.Record(verified, passes_));
    return verified == kFine ? code : verified;
  }

  const Cluster& cluster_;
  PlanScope scope_;
  const ApplyFlags& flags_;
  const Context& context_;
  NodePool pool_;
  LedgerKeeper keeper_;
  ClusterFacts facts_;
  std::map<NodeName, Error> absent_;  // from the start
  int lock_code_ = kFine;
  bool ended_leftovers_ = false;
  std::vector<Plan> passes_;  // of a committed apply
};

}  // namespace

GenerationInfo MakeGenerationInfo(const Cluster& cluster, const std::string& file) {
  const GitInfo git = ReadGitInfo(file);
  return {.cluster = cluster.spec.name,
          .manifest = file,
          .manifest_digest = cluster.spec.digest,
          .manifest_text = cluster.text,
          .time = FormatTimeNow(),
          .by = DescribeOwner(),
          .commit = git.commit,
          .dirty = git.dirty};
}

int RunApply(const Cluster& cluster, const PlanScope& scope, const std::optional<Plan>& saved,
             const GenerationInfo& info, const ApplyFlags& flags, const Context& context) {
  return ApplyRun(cluster, scope, info, flags, context).Execute(saved);
}

}  // namespace reconciler::cli
