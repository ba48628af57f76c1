#include "reconciler/cli/apply_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/apply_report.h"
#include "reconciler/cli/event_log.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/git_info.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/engine/converge.h"
#include "reconciler/engine/guard.h"
#include "reconciler/engine/ledger.h"
#include "reconciler/engine/lock.h"
#include "reconciler/engine/plan_compare.h"
#include "reconciler/engine/render.h"
#include "reconciler/transport/dial.h"

namespace reconciler::cli {
namespace {

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
    if (!report.undone) return kMixed;
    return report.applied.interrupted ? kInterrupted : kUndone;
  }
  if (!facts.unreachable.empty()) return kNodeUnreadable;
  return report.remaining.BlockedCount() > 0 ? kPending : kFine;
}

// Prunes that nothing but their commands' success tells of: see PlanScope::pruned.
std::set<std::string> UnseenPrunes(const Plan& plan) {
  std::set<std::string> ids;
  ForEachChange(plan, [&](const Change& change) {
    const bool file = std::any_of(
        change.actions.begin(), change.actions.end(),
        [](const Action& action) { return !std::holds_alternative<RunCommand>(action); });
    if (change.prune && !file) ids.insert(change.Id());
  });
  return ids;
}

class ApplyRun {
 public:
  ApplyRun(const Cluster& cluster, const PlanScope& scope, const GenerationInfo& info,
           const ApplyFlags& flags, const Context& context)
      : cluster_(cluster),
        scope_(scope),
        info_(info),
        flags_(flags),
        context_(context),
        pool_(DialNode) {}

  int Do(const std::optional<Plan>& saved) {
    const auto fresh = Replan();
    if (!fresh) return Complain(fresh.error(), kUsageOrManifest);
    if (saved && IsStale(*saved, *fresh)) return kStalePlan;
    const Plan& plan = saved ? *saved : *fresh;
    std::cout << RenderText(plan, {.colour = context_.ColourOnStdout(), .diffs = !flags_.brief})
              << std::flush;
    if (const Errors errors = WhyNot(); !errors.empty()) {
      std::cerr << FormatErrors(errors) << "nothing was changed\n";
      return kUsageOrManifest;
    }
    if (plan.Empty() && NodesToSettle(plan).empty()) {
      const int code = facts_.unreachable.empty() ? kFine : kNodeUnreadable;
      return Verified(code == kFine && plan.BlockedCount() > 0 ? kPending : code);
    }
    if ((!plan.Empty() || scope_.uninstall) && !Confirmed(plan, flags_.yes)) {
      return kUsageOrManifest;
    }
    return Carry(plan);
  }

 private:
  // A node that did not answer the first time is not waited for again.
  Result<Plan> Replan() {
    Selection selection{.scope = scope_};
    if (!absent_.empty()) {
      selection.scope.nodes.clear();
      for (const NodeSpec* node : SelectNodes(cluster_.spec, scope_.nodes)) {
        if (!absent_.contains(node->name)) selection.scope.nodes.push_back(node->name);
      }
    }
    const bool is_first = facts_.nodes.empty();
    facts_ = GatherWithProgress(cluster_, selection, pool_);
    if (is_first) absent_ = facts_.unreachable;
    facts_.unreachable.insert(absent_.begin(), absent_.end());
    return MakePlan(cluster_.spec, cluster_.fabric, facts_, plugins::All(), scope_);
  }

  // Uninstalling forgets the nodes of the manifest, so that a lost one does no harm.
  Errors WhyNot() const {
    return WhyNotToApply(cluster_.spec, facts_, flags_.allow_node_removal || scope_.uninstall);
  }

  static bool IsStale(const Plan& plan, const Plan& fresh) {
    const Errors stale = FindStale(plan, fresh);
    std::cerr << FormatErrors(stale);
    return !stale.empty();
  }

  std::vector<const NodeSpec*> ReadNodes() const {
    std::vector<const NodeSpec*> nodes;
    for (const NodeSpec& node : cluster_.spec.nodes) {
      if (facts_.nodes.contains(node.name)) nodes.push_back(&node);
    }
    return nodes;
  }

  int Carry(const Plan& plan) {
    const std::vector<const NodeSpec*> nodes = ReadNodes();
    const auto locks = Locks::Take(nodes, pool_, LeaseText());
    if (!locks) {
      return Complain(locks.error(), locks.error().kind == ErrorKind::kLocked ? kLocked : kUndone);
    }
    const auto leftovers = TakeBackLeftovers(nodes, pool_);
    if (!leftovers) return Complain(leftovers.error(), kMixed);
    for (const std::string& line : *leftovers) std::cerr << line << '\n';
    // Under the lock nobody else of us changes anything: what was approved must still fit.
    const auto now = Replan();
    if (!now) return Complain(now.error(), kUsageOrManifest);
    if (IsStale(plan, *now)) return kStalePlan;
    if (const Errors errors = WhyNot(); !errors.empty()) {
      std::cerr << FormatErrors(errors) << "nothing was changed\n";
      return kUsageOrManifest;
    }
    generation_ = NextGeneration(facts_);
    info_.plan = plan.id;
    info_.changes = plan.ChangeCount();
    if (plan.Empty()) return Settled(plan, *now, kFine);

    beside_ = IdsBeside(plan, *now);
    const auto log = EventLog::Open(flags_.events_file);
    if (!log) return Complain(log.error(), kUsageOrManifest);
    const ConvergeReport report = RunConverge(plan, *now, **log);
    PrintOutcome(report);
    if (!beside_.empty()) {
      std::cout << Plural(beside_.size(), "other difference", "other differences")
                << " from the manifest was not in the plan and is left as it was\n";
    }
    const int code = Finish(report, facts_);
    if (!report.converged) return code;
    passes_ = report.passes;
    return Settled(plan, report.remaining, code);
  }

  ConvergeReport RunConverge(const Plan& plan, const Plan& now, EventLog& log) {
    scope_.pruned = UnseenPrunes(plan);
    SetInterruptHandler(OnInterrupt);
    ConvergeReport report = Converge(
        plan, cluster_.spec, pool_, [&] { return Replan(); },
        [&](const Event& event) {
          if (event.type == EventType::kUndoing) scope_.pruned.clear();  // they are due again
          log.Write(event);
        },
        {.should_stop = [] { return interrupted != 0; },
         .before = now,
         .beside = beside_,
         .commit = [&](const NodeName& node,
                       const std::vector<Plan>& passes) { return Texts(node, passes); }});
    SetInterruptHandler(SIG_DFL);
    return report;
  }

  LedgerHead Head(int generation) const {
    LedgerHead head{.cluster = cluster_.spec.name,
                    .generation = generation,
                    .manifest_digest = cluster_.spec.digest};
    for (const NodeSpec& node : cluster_.spec.nodes) {
      head.nodes.push_back({node.name, node.id, node.address});
    }
    return head;
  }

  Ledger OldLedger(const NodeName& node) const {
    const auto facts = facts_.nodes.find(node);
    const Ledger* ledger = facts == facts_.nodes.end() ? nullptr : Known(facts->second.ledger);
    return ledger == nullptr ? Ledger{} : *ledger;
  }

  CommitTexts Texts(const NodeName& node, const std::vector<Plan>& passes) const {
    const Ledger ledger = UpdateLedger(OldLedger(node), passes, node, Head(generation_));
    return {.number = generation_,
            .generation = GenerationText(info_),
            .ledger = LedgerText(ledger),
            .owned = OwnedListText(ledger)};
  }

  static bool Changes(const Plan& plan, const NodeName& node) {
    bool changes = false;
    ForEachChange(plan, [&](const Change& change) { changes |= change.node == node; });
    return changes;
  }

  // Nodes that the plan leaves as they are, and whose ledger is to be written all the same: they
  // remember nodes that are gone, or things that nobody has to take back any more. When all is
  // uninstalled, every node has something to forget.
  std::vector<const NodeSpec*> NodesToSettle(const Plan& plan) const {
    std::vector<const NodeSpec*> nodes;
    for (const NodeSpec* node : ReadNodes()) {
      const Ledger* ledger = Known(facts_.nodes.at(node->name).ledger);
      if (ledger == nullptr || Changes(plan, node->name)) continue;
      const auto entry = std::find_if(plan.nodes.begin(), plan.nodes.end(),
                                      [&](const PlanNode& one) { return one.name == node->name; });
      const bool forgets = entry != plan.nodes.end() && !entry->forget.empty();
      if (forgets || scope_.uninstall || ledger->nodes != Head(0).nodes) nodes.push_back(node);
    }
    return nodes;
  }

  // What follows a commit, or stands for one where no node had to be changed.
  int Settled(const Plan& plan, const Plan& remaining, int code) {
    Errors errors = RunOnNodes(
        NodesToSettle(plan), pool_, "the ledger could not be written", [&](const NodeName& node) {
          const Ledger old = OldLedger(node);
          LedgerHead head = Head(old.generation);
          if (!scope_.uninstall) head.manifest_digest = old.manifest_digest;
          const Ledger ledger = UpdateLedger(old, {plan}, node, head);
          return WriteLedgerScript(LedgerText(ledger), OwnedListText(ledger));
        });
    for (Error& error : RunOnNodes(ReadNodes(), pool_, "empty folders could not be taken away",
                                   [](const NodeName&) { return SweepScript(); })) {
      errors.push_back(std::move(error));
    }
    std::cerr << FormatErrors(errors);
    if (!errors.empty()) return kMixed;
    return scope_.uninstall ? Forgotten(remaining, code) : Verified(code);
  }

  // The last step of an uninstall: where nothing is left, we leave nothing either.
  int Forgotten(const Plan& remaining, int code) {
    std::set<NodeName> left;
    for (const Stage& stage : remaining.stages) {
      for (const Change& change : stage.changes) {
        left.insert(change.node);
        std::cout << fmt::format("left on {}: {} {}: {}\n", change.node, change.kind,
                                 Printable(change.name), Printable(change.detail));
      }
    }
    std::vector<const NodeSpec*> done = ReadNodes();
    std::erase_if(done, [&](const NodeSpec* node) { return left.contains(node->name); });
    const Errors errors =
        RunOnNodes(done, pool_, fmt::format("{} could not be taken away", kStateFolder),
                   [](const NodeName&) { return ForgetScript(); });
    std::cerr << FormatErrors(errors);
    for (const NodeSpec* node : done) {
      std::cout << fmt::format("{}: nothing of spark-reconcile is left, {} is gone\n", node->name,
                               kStateFolder);
    }
    if (!errors.empty()) return kMixed;
    return code == kFine && !left.empty() ? kPending : code;
  }

  // Half a cluster proves nothing: an apply to some nodes or plugins leaves it to `verify`.
  int Verified(int code) {
    const bool whole = scope_.only.empty() && facts_.nodes.size() == cluster_.spec.nodes.size();
    const bool skipped = flags_.no_verify || scope_.uninstall || !whole ||
                         cluster_.spec.settings.Find("verify") == nullptr;
    if ((code != kFine && code != kPending) || skipped) return code;
    const int verified = VerifyAfterApply(cluster_, facts_, pool_);
    Record(verified);
    return verified == kFine ? code : verified;
  }

  void Record(int verified) {
    if (passes_.empty()) return;
    info_.verification = verified == kFine           ? "passed"
                         : verified == kVerifyFailed ? "failed"
                                                     : "not measured";
    const std::string document = GenerationText(info_);
    std::cerr << FormatErrors(RunOnNodes(
        ReadNodes(), pool_, "the verification could not be recorded", [&](const NodeName& node) {
          const bool committed = std::any_of(passes_.begin(), passes_.end(),
                                             [&](const Plan& pass) { return Changes(pass, node); });
          return committed ? RecordVerificationScript(generation_, document) : std::string();
        }));
  }

  const Cluster& cluster_;
  PlanScope scope_;
  GenerationInfo info_;
  const ApplyFlags& flags_;
  const Context& context_;
  NodePool pool_;
  ClusterFacts facts_;
  std::map<NodeName, Error> absent_;  // from the start
  std::set<std::string> beside_;
  int generation_ = 0;        // of this apply
  std::vector<Plan> passes_;  // of a committed one
};

}  // namespace

void AddApplyFlags(CLI::App& command, ApplyFlags& flags) {
  command.add_option("--events", flags.events_file,
                     "Write one JSON object per event to this file (- is stdout)");
  command.add_flag("--yes", flags.yes, "Do not ask");
  command.add_flag("--brief", flags.brief, "Show the plan without the files' diffs");
  command.add_flag("--no-verify", flags.no_verify, "Do not end with the manifest's verification");
}

GenerationInfo InfoOf(const Cluster& cluster, const std::string& file) {
  const GitInfo git = GitInfoOf(file);
  return {.cluster = cluster.spec.name,
          .manifest = file,
          .manifest_digest = cluster.spec.digest,
          .manifest_text = cluster.text,
          .time = TimeNow(),
          .by = WhoAmI(),
          .commit = git.commit,
          .dirty = git.dirty};
}

int RunApply(const Cluster& cluster, const PlanScope& scope, const std::optional<Plan>& saved,
             const GenerationInfo& info, const ApplyFlags& flags, const Context& context) {
  return ApplyRun(cluster, scope, info, flags, context).Do(saved);
}

}  // namespace reconciler::cli
