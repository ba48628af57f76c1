#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <iostream>
#include <memory>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/cabling_run.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/event_log.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/engine/apply_script.h"
#include "reconciler/engine/converge.h"
#include "reconciler/engine/guard.h"
#include "reconciler/engine/half_cable.h"
#include "reconciler/engine/history.h"
#include "reconciler/engine/lock.h"
#include "reconciler/engine/plan_compare.h"
#include "reconciler/engine/render.h"
#include "reconciler/model/json.h"
#include "reconciler/model/json_reader.h"
#include "reconciler/transport/dial.h"

namespace reconciler::cli {
namespace {

struct ApplyOptions {
  Selection selection = {};  // `manifest` may name a saved plan
  std::string manifest_of_plan = {};
  std::string events_file = {};
  bool yes = false;
  bool brief = false;
  bool no_verify = false;
  bool allow_unproven = false;
  bool interrupt = false;
  bool allow_half_cables = false;
  bool allow_wrong_cables = false;
  GuardTimes times = {};
};

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

// A saved plan and the scope that it was made for.
Result<std::optional<Plan>> SavedPlan(ApplyOptions& options) {
  const auto text = ReadTextFile(options.selection.manifest);
  if (!text) return Fail(text.error());
  if (!text->starts_with('{')) return std::nullopt;  // a manifest
  auto plan = ParsePlan(*text);
  if (!plan) return Fail(InContext(std::move(plan).error(), options.selection.manifest));
  if (plan->id != PlanDigest(*plan)) {
    return Fail(
        {.kind = ErrorKind::kInput,
         .message = options.selection.manifest +
                    ": was edited after it was made: its id is not the digest of its content",
         .hint = "make a new plan with `plan --out`"});
  }
  options.selection.manifest =
      options.manifest_of_plan.empty() ? plan->manifest : options.manifest_of_plan;
  if (!options.selection.scope.nodes.empty() || !options.selection.scope.only.empty()) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "--node and --only do not go with a saved plan: it is applied whole",
                 .hint = "give them to `plan --out`"});
  }
  for (const PlanNode& node : plan->nodes) options.selection.scope.nodes.push_back(node.name);
  options.selection.scope.only = plan->only;
  return std::move(*plan);
}

// On a terminal only the word "yes" goes on; without one, --yes must have been given.
bool Confirmed(const Plan& plan, bool yes) {
  if (yes) return true;
  if (isatty(STDIN_FILENO) != 1) {
    std::cerr << "nothing was changed: there is no terminal to ask on\n"
                 "  hint: give --yes, or save a plan with `plan --out` and apply that with --yes\n";
    return false;
  }
  std::cerr << "Apply " << SummaryLine(plan) << "? Only 'yes' goes on: ";
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "yes") return true;
  std::cerr << "nothing was changed\n";
  return false;
}

void PrintEnds(const ConvergeReport& report) {
  for (const auto& [node, end] : report.ends) std::cout << node << ": " << ToString(end) << '\n';
}

void PrintFailure(const ConvergeReport& report) {
  for (const auto& [name, node] : report.applied.nodes) std::cerr << FormatErrors(node.errors);
  std::cerr << FormatErrors(report.errors);
  for (const std::string& id : report.kept) std::cerr << "kept: " << Printable(id) << '\n';
  if (report.undone) {
    std::cout << "not applied: every node took the plan back, and reads as it did before\n";
    return;
  }
  std::cout << "not applied, and not every node is as before: see the errors above\n";
  PrintEnds(report);
  std::cerr << "what stood on each node before is there in " << JournalDirectory(report.apply_id)
            << ", with a script named revert that puts it back\n";
}

void PrintOutcome(const ConvergeReport& report) {
  if (report.committed && !report.converged) {
    std::cerr << FormatErrors(report.errors);
    std::cout << "committed on every node, but what was read afterwards differs: see the errors "
                 "above\n";
    PrintEnds(report);
    return;
  }
  if (!report.converged) {
    PrintFailure(report);
    return;
  }
  std::size_t done = 0;
  for (const auto& [name, node] : report.applied.nodes) {
    done += static_cast<std::size_t>(
        std::count_if(node.changes.begin(), node.changes.end(),
                      [](const auto& entry) { return entry.second == ChangeOutcome::kDone; }));
  }
  const std::size_t blocked = report.remaining.BlockedCount();
  std::cout << "converged: " << Plural(done, "change", "changes") << " made, read back, and "
            << (blocked == 0 ? std::string("nothing differs\n")
                             : fmt::format("nothing differs but what is blocked ({})\n", blocked));
}

int Finish(const ConvergeReport& report, const ClusterFacts& facts) {
  if (!report.converged) {
    if (!report.undone) return kMixed;
    return report.applied.interrupted ? kInterrupted : kUndone;
  }
  if (!facts.unreachable.empty()) return kNodeUnreadable;
  return report.remaining.BlockedCount() > 0 ? kPending : kFine;
}

// What each node's ledger keeps of this apply.
std::string Generation(const Plan& plan) {
  return Dump({{"format", "spark-reconcile/generation/1"},
               {"plan", plan.id},
               {"cluster", EncodeText(plan.cluster)},
               {"manifest", EncodeText(plan.manifest)},
               {"manifest_digest", plan.spec_digest},
               {"time", TimeNow()},
               {"by", EncodeText(WhoAmI())},
               {"changes", plan.ChangeCount()}});
}

// One apply from the facts to the report.
class ApplyRun {
 public:
  ApplyRun(const Cluster& cluster, const ApplyOptions& options, const Context& context)
      : cluster_(cluster), options_(options), context_(context), pool_(DialNode) {}

  int Do(const std::optional<Plan>& saved) {
    const auto fresh = Replan({});
    if (!fresh) return Complain(fresh.error(), kUsageOrManifest);
    if (saved && IsStale(*saved, *fresh)) return kStalePlan;
    const Plan& plan = saved ? *saved : *fresh;
    std::cout << RenderText(plan, {.colour = context_.ColourOnStdout(), .diffs = !options_.brief})
              << std::flush;
    if (plan.Empty() && Unfinished()) return EndUnfinished();
    if (plan.Empty()) {
      const int code = facts_.unreachable.empty() ? kFine : kNodeUnreadable;
      return Verified(code == kFine && plan.BlockedCount() > 0 ? kPending : code);
    }
    if (const int refused = RefuseHalfCables(plan); refused != kFine) return refused;
    if (const int refused = RefuseToInterrupt(plan, *fresh); refused != kFine) return refused;
    if (!Confirmed(plan, options_.yes)) return kUsageOrManifest;
    return Carry(plan);
  }

 private:
  // A node that did not answer the first time is not waited for again.
  Result<Plan> Replan(const Trials& trials) {
    Selection selection = options_.selection;
    if (!absent_.empty()) {
      selection.scope.nodes.clear();
      for (const NodeSpec* node : SelectNodes(cluster_.spec, options_.selection.scope.nodes)) {
        if (!absent_.contains(node->name)) selection.scope.nodes.push_back(node->name);
      }
    }
    const bool is_first = facts_.nodes.empty();
    facts_ = GatherWithProgress(cluster_, selection, pool_, trials);
    if (is_first) absent_ = facts_.unreachable;
    facts_.unreachable.insert(absent_.begin(), absent_.end());
    return MakePlan(cluster_.spec, cluster_.fabric, facts_, plugins::All(),
                    options_.selection.scope);
  }

  // Jobs come and go: what counts is who is at work now, on what the plan changes.
  int RefuseToInterrupt(const Plan& plan, Plan now) const {
    for (Stage& stage : now.stages) {
      std::erase_if(stage.changes,
                    [&](const Change& change) { return FindChange(plan, change.Id()) == nullptr; });
    }
    const std::vector<std::string> ended = Interruptions(now);
    if (ended.empty() || options_.interrupt) return kFine;
    std::cerr << "nothing was changed, because it would end work that runs now:\n";
    for (const std::string& line : ended) std::cerr << "  " << line << '\n';
    std::cerr << "  hint: wait for it, or give --interrupt\n";
    return kPending;
  }

  int RefuseHalfCables(const Plan& plan) const {
    const std::vector<std::string> half = HalfCables(plan, cluster_.fabric, facts_);
    if (half.empty() || options_.allow_half_cables) return kFine;
    std::cerr << "nothing was changed, because it would change one end of a cable only:\n";
    for (const std::string& line : half) std::cerr << "  " << line << '\n';
    std::cerr << "  hint: make that node ready, take it out of the manifest, or give "
                 "--allow-half-cables\n";
    return facts_.unreachable.empty() ? kPending : kNodeUnreadable;
  }

  bool Unfinished() const {
    return std::any_of(facts_.nodes.begin(), facts_.nodes.end(), [](const auto& node) {
      return node.second.values.contains(std::string(kUndecidedKey));
    });
  }

  // Nothing differs, but an apply that was cut off would be ended by its guard later.
  int EndUnfinished() {
    const auto sessions = Locked();
    if (!sessions) return lock_code_;
    const auto now = Replan({});
    if (!now) return Complain(now.error(), kUsageOrManifest);
    if (!now->Empty()) {
      std::cerr << "what differs now was not in the plan: apply again\n";
      return kStalePlan;
    }
    return Verified(now->BlockedCount() > 0 ? kPending : kFine);
  }

  std::vector<const NodeSpec*> Reached() const {
    std::vector<const NodeSpec*> nodes;
    for (const NodeSpec& node : cluster_.spec.nodes) {
      if (facts_.nodes.contains(node.name)) nodes.push_back(&node);
    }
    return nodes;
  }

  // The nodes' locks, with nothing of an earlier apply left open; null: lock_code_ says why not.
  std::unique_ptr<Sessions> Locked() {
    auto sessions = Sessions::Take(Reached(), pool_, LeaseText());
    if (!sessions) {
      lock_code_ = Complain(sessions.error(),
                            sessions.error().kind == ErrorKind::kLocked ? kLocked : kUndone);
      return nullptr;
    }
    const auto leftovers = EndLeftovers(Reached(), **sessions);
    if (!leftovers) {
      lock_code_ = Complain(leftovers.error(), kMixed);
      return nullptr;
    }
    for (const std::string& line : *leftovers) std::cerr << line << '\n';
    return std::move(*sessions);
  }

  static bool IsStale(const Plan& plan, const Plan& fresh) {
    const Errors stale = FindStale(plan, fresh);
    std::cerr << FormatErrors(stale);
    return !stale.empty();
  }

  int Carry(const Plan& plan) {
    const auto sessions = Locked();
    if (sessions == nullptr) return lock_code_;
    // Under the lock nobody else of us changes anything: what was approved must still fit.
    const auto now = Replan({});
    if (!now) return Complain(now.error(), kUsageOrManifest);
    if (IsStale(plan, *now)) return kStalePlan;
    beside_ = IdsBeside(plan, *now);
    if (const int refused = RefuseToInterrupt(plan, *now); refused != kFine) return refused;
    if (StopForCabling(cluster_, options_.selection.scope, Reached(), pool_,
                       options_.allow_wrong_cables))
      return kPending;

    const auto log = EventLog::Open(options_.events_file);
    if (!log) return Complain(log.error(), kUsageOrManifest);
    SetInterruptHandler(OnInterrupt);
    const ConvergeReport report = Converge(
        plan, cluster_.spec, cluster_.fabric, *sessions, pool_,
        [&](const Trials& trials) { return Replan(trials); },
        [&](const Event& event) { (*log)->Write(event); },
        {.should_stop = [] { return interrupted != 0; },
         .before = *now,
         .beside = beside_,
         .documents = DocumentsFor(plan, Reached()),
         .times = options_.times,
         .allow_unproven = options_.allow_unproven,
         .why_unproven = [&] { return WrongCables(cluster_, Reached(), pool_); }});
    SetInterruptHandler(SIG_DFL);
    PrintOutcome(report);
    if (!beside_.empty()) {
      std::cout << Plural(beside_.size(), "other difference", "other differences")
                << " from the manifest was not in the plan and is left as it was\n";
    }
    return Verified(Finish(report, facts_));
  }

  std::map<NodeName, Documents> DocumentsFor(const Plan& plan,
                                             const std::vector<const NodeSpec*>& nodes) {
    int newest = 0;
    for (const NodeSpec* node : nodes) {
      const auto history = ReadHistory(*node, pool_);
      if (history && !history->empty()) newest = std::max(newest, history->back().number);
    }
    std::map<NodeName, Documents> documents;
    for (const NodeSpec* node : nodes) {
      documents[node->name][fmt::format("generations/{}.json", newest + 1)] = Generation(plan);
    }
    return documents;
  }

  // Half a cluster proves nothing: an apply to some nodes or plugins leaves it to `verify`.
  int Verified(int code) {
    const bool whole =
        options_.selection.scope.only.empty() && facts_.nodes.size() == cluster_.spec.nodes.size();
    if ((code != kFine && code != kPending) || options_.no_verify || !whole) return code;
    const int verified = VerifyAfterApply(cluster_, facts_, pool_);
    return verified == kFine ? code : verified;
  }

  const Cluster& cluster_;
  const ApplyOptions& options_;
  const Context& context_;
  NodePool pool_;
  ClusterFacts facts_;
  std::map<NodeName, Error> absent_;  // from the start
  std::set<std::string> beside_;
  int lock_code_ = kFine;
};

int RunApply(ApplyOptions options, const Context& context) {
  const auto saved = SavedPlan(options);
  if (!saved) return Complain(saved.error(), kUsageOrManifest);
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  return ApplyRun(*cluster, options, context).Do(*saved);
}

}  // namespace

void AddApply(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("apply", "Make the nodes match the manifest, and prove that they do");
  auto options = std::make_shared<ApplyOptions>();
  command
      ->add_option("file", options->selection.manifest,
                   "A manifest, or a plan saved by `plan --out`")
      ->capture_default_str();
  AddScope(*command, options->selection);
  command->add_option("--manifest", options->manifest_of_plan,
                      "Where the manifest of a saved plan is now");
  command->add_option("--events", options->events_file,
                      "Write one JSON object per event to this file (- is stdout)");
  command->add_flag("--yes", options->yes, "Do not ask");
  command->add_flag("--brief", options->brief, "Show the plan without the files' diffs");
  command
      ->add_option("--revert-after", options->times.revert_after,
                   "Seconds without progress after which a node takes the plan back by itself")
      ->check(CLI::Range(5, 3600))
      ->capture_default_str();
  command->add_flag("--allow-unproven", options->allow_unproven,
                    "Keep the change though pairs of nodes do not reach each other");
  command->add_flag("--allow-half-cables", options->allow_half_cables,
                    "Change links although the other end cannot be changed with them");
  command->add_flag("--allow-wrong-cables", options->allow_wrong_cables,
                    "Go on although cables do not join what the manifest says");
  command->add_flag("--interrupt", options->interrupt,
                    "Go on although RDMA connections are open on links that will flap");
  command->add_flag("--no-verify", options->no_verify,
                    "Do not end with the manifest's verification");
  command->callback([&context, options] { context.exit_code = RunApply(*options, context); });
}

}  // namespace reconciler::cli
