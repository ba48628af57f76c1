#include "reconciler/cli/apply/apply_run.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "plugins/registry.h"
#include "reconciler/apply/cluster_apply.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/apply/apply_display.h"
#include "reconciler/cli/apply/apply_refusals.h"
#include "reconciler/cli/apply/apply_report.h"
#include "reconciler/cli/apply/interrupt.h"
#include "reconciler/cli/apply/logged_dial.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/file_output.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/planning/layout.h"
#include "reconciler/planning/text/overridden.h"
#include "reconciler/planning/text/render.h"
#include "reconciler/progress/apply_end.h"
#include "reconciler/verify/report/render.h"

namespace reconciler::cli {
namespace {

// One apply: shows what the apply proposes, prompts, shows the result.
class ApplyRun {
 public:
  ApplyRun(const Cluster& cluster, const PlanScope& scope, const GenerationInfo& info,
           const ApplyFlags& flags, const Context& context, ApplyDisplay& display, EventLog& log)
      : cluster_(cluster),
        scope_(scope),
        flags_(flags),
        context_(context),
        display_(display),
        log_(log),
        manifest_(info.manifest),
        pool_(LogConnections(context.dial, [&display](const LogLine& line) { display.Log(line); }),
              context.at_once),
        apply_({.cluster = cluster.spec,
                .fabric = cluster.fabric,
                .plugins = plugins::GetAll(),
                .scope = scope,
                .info = info},
               MakeOptions(), MakeHooks(), pool_) {}

  // Where another apply runs, plans again until it has ended or the time is over.
  int Execute(const std::optional<Plan>& saved) {
    const auto end = Clock::now() + std::chrono::seconds(flags_.lock_timeout_s);
    for (;;) {
      const int code = ExecuteOnce(saved);
      if (code != kLocked || Clock::now() >= end) return code;
      std::cerr << fmt::format("waiting for the other apply to end, at most {} s\n",
                               std::chrono::ceil<std::chrono::seconds>(end - Clock::now()).count());
      std::this_thread::sleep_for(kLockPause);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLockPause{2};

  int ExecuteOnce(const std::optional<Plan>& saved) {
    EnterInterruptPhase(InterruptPhase::kBefore);
    if (flags_.yes) apply_.LockAhead();  // there is no prompt in between
    Proposal proposal = apply_.Propose(saved);
    if (!proposal.unfinished.empty()) {
      for (const std::string& line : proposal.unfinished) std::cerr << line << '\n';
      if (!Confirm("End that, and plan again?", flags_.yes)) return kUsageOrManifest;
      EnterInterruptPhase(InterruptPhase::kEnd);
      const auto refusal = apply_.EndUnfinished();
      const bool interrupted = IsInterrupted();
      EnterInterruptPhase(InterruptPhase::kNone);  // drops it
      EnterInterruptPhase(InterruptPhase::kBefore);
      if (refusal) return Refuse(*refusal);
      if (interrupted) return kInterrupted;
      proposal = apply_.Propose(saved);
    }
    return Show(proposal);
  }

  // Shows what is proposed, and carries it out where nothing is against it.
  int Show(const Proposal& proposal) {
    if (proposal.plan) {
      std::cout << RenderText(*proposal.plan, {.colour = HasColour(),
                                               .diffs = !flags_.brief,
                                               .columns = context_.ColumnsOnStdout()})
                << std::flush;
    }
    if (proposal.refusal) return Refuse(*proposal.refusal);
    const Plan& plan = *proposal.plan;
    if (!proposal.needs_work) {
      end_.beside = proposal.beside;
      const int settled = FindSettledCode(plan);
      const int code =
          scope_.uninstall && settled == kFine ? ReportUnledgered() : VerifyResult(plan, settled);
      return ReportEnd(plan, code);
    }
    if ((!plan.Empty() || scope_.uninstall) && !ConfirmPlan(plan, flags_.yes)) {
      return kUsageOrManifest;
    }
    return CarryOut(plan);
  }

  ClusterApplyOptions MakeOptions() const {
    return {.allow_node_removal = flags_.allow_node_removal,
            .allow_unreached = flags_.allow_unreached,
            .allow_unproven = flags_.allow_unproven,
            .allow_silent_beacons = flags_.allow_silent_beacons,
            .allow_half_cables = flags_.allow_half_cables,
            .allow_wrong_cables = flags_.allow_wrong_cables,
            .interrupt = flags_.interrupt,
            .times = flags_.times};
  }

  ClusterApplyHooks MakeHooks() {
    return {.read = [this](const PlanScope& scope,
                           const Trials& trials) { return Read(scope, trials); },
            .on_event =
                [this](const Event& event) {
                  if (event.type == EventType::kReady) EnterInterruptPhase(InterruptPhase::kCommit);
                  if (event.type == EventType::kReverting)
                    EnterInterruptPhase(InterruptPhase::kRevert);
                  log_.Write(event);
                  display_.Note(event);
                },
            .should_stop = IsApplyStopped,
            .on_changing =
                [this] {
                  SetInterruptTimes({flags_.times.revert_after, flags_.times.moment()});
                  EnterInterruptPhase(InterruptPhase::kTrial);
                  display_.BeginChanging();
                },
            .on_unfinished =
                [this](const std::string& line) {
                  display_.PrintAbove([&] { std::cerr << line << '\n'; });
                },
            .on_cabling =
                [this](const CablingReport& report) {
                  display_.PrintAbove([&] { PrintCabling(report, flags_.allow_wrong_cables); });
                }};
  }

  ClusterFacts Read(const PlanScope& scope, const Trials& trials) {
    const Selection selection{.scope = scope};
    // The last facts that an apply reads are those that it verifies by.
    const Purpose purpose = flags_.no_verify ? Purpose::kPlan : Purpose::kVerification;
    if (display_.AllowsProgress()) {
      return GatherWithProgress(cluster_, selection, pool_, purpose, trials);
    }
    ClusterFacts facts = GatherQuietly(cluster_, selection, pool_, purpose, trials);
    if (!facts.unreachable.empty()) {
      display_.PrintAbove([&] {
        for (const auto& [name, error] : facts.unreachable) std::cerr << FormatError(error);
      });
    }
    return facts;
  }

  // Of the plan, which stdout shows unless events go there.
  bool HasColour() const {
    return flags_.events_file == "-" ? context_.ColourOnStderr() : context_.ColourOnStdout();
  }

  bool ReachedAll() const { return apply_.facts().unreachable.empty(); }

  int Refuse(const ApplyRefusal& refusal) const {
    PrintRefusal(refusal, flags_.has_node);
    return FindExitCode(refusal, ReachedAll());
  }

  int FindSettledCode(const Plan& remaining) const {
    if (!ReachedAll()) return kNodeUnreadable;
    return remaining.BlockedCount() > 0 || remaining.WarningCount() > 0 ? kPending : kFine;
  }

  int CarryOut(const Plan& plan) {
    carries_out_ = !plan.Empty();  // nothing happens otherwise
    const auto began = std::chrono::steady_clock::now();
    if (!plan.Empty()) display_.Begin(plan);
    const ClusterApplyResult result = apply_.CarryOut(plan);
    display_.End();
    end_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (result.refusal) return Refuse(*result.refusal);
    const int code = Report(result);
    std::cout << RenderNewWarnings(plan, result.remaining);
    const bool failed = result.report && !result.report->converged;
    if (failed || !result.ledger_errors.empty()) return ReportPartial(code);
    return ReportEnd(result.remaining, code);
  }

  int Report(const ClusterApplyResult& result) {
    has_way_back_ = result.beside == 0;  // a rollback would change that too
    if (result.report) {
      PrintOutcome(*result.report, apply_.FindBegunGeneration());
      if (result.beside > 0) std::cout << FormatBeside(result.beside) << '\n';
      if (!result.report->converged) {
        if (!result.report->reverted) return kMixed;
        return result.report->applied.interrupted ? kInterrupted : kReverted;
      }
      end_.changes = CountDone(*result.report);
      end_.nodes = CountChangedNodes(*result.report);
    } else {
      end_.beside = result.beside;
    }
    if (!result.ledger_errors.empty()) {
      PrintNotRecorded(result.report, result.ledger_errors);
      return kMixed;
    }
    const int code = FindSettledCode(result.remaining);
    return result.uninstall ? FinishUninstall(*result.uninstall, code)
                            : VerifyResult(result.remaining, code);
  }

  int ReportPartial(int code) const {
    if (const std::vector<NodeName> absent = apply_.ListAbsent(); !absent.empty()) {
      PrintPartial(absent);
    }
    return code;
  }

  // The last line, where nothing failed before the verification.
  int ReportEnd(const Plan& remaining, int code) {
    end_.absent = apply_.ListAbsent();
    end_.blocked = remaining.BlockedCount();
    end_.warnings = remaining.WarningCount();
    end_.overridden = FormatOverridden(remaining);
    end_.uninstall = scope_.uninstall;
    if (!scope_.uninstall) end_.generation = apply_.FindGeneration();
    if (end_.generation > 0 && end_.absent.empty() && has_way_back_) {
      end_.undo = FormatUndo(manifest_, apply_.FindWayBack());
    }
    std::cout << FormatApplyEnd(end_);
    return code;
  }

  int FinishUninstall(const UninstallResult& uninstall, int code) const {
    PrintUninstall(uninstall);
    const int unledgered = ReportUnledgered();
    const int removed = !uninstall.errors.empty() ? kMixed
                        : uninstall.left.empty()  ? kFine
                                                  : kPending;
    if (removed == kFine && code == kFine) return unledgered;
    return removed == kMixed || code == kFine ? removed : code;
  }

  int ReportUnledgered() const {
    const std::vector<UnledgeredFile> files = apply_.FindUnledgered();
    PrintUnledgered(files);
    return files.empty() ? kFine : kPending;
  }

  int VerifyResult(const Plan& remaining, int code) {
    const VerificationNeed need = apply_.FindVerificationNeed(remaining);
    if (flags_.no_verify || !need.wanted) return code;
    if (!need.blocked.empty()) {
      PrintNotVerified(need.blocked);
      return code;
    }
    const bool applied = carries_out_;
    if (IsInterrupted()) {  // during the commit, or since
      std::cerr << DescribeInterruptedVerification(applied);
      return kNotMeasured;
    }
    if (applied) {
      std::cout << fmt::format("committed and read back: {}; verifying\n",
                               FormatPlural(end_.changes, "change", "changes"));
    }
    std::cout << std::flush;  // an interrupt ends the program
    EnterInterruptPhase(applied ? InterruptPhase::kVerify : InterruptPhase::kCheck);
    const reconciler::Report report =
        RunLevels(cluster_, apply_.facts(), pool_, {}, display_.AllowsProgress());
    const std::size_t columns = context_.ColumnsOnStdout();
    std::cout << WrapColumns(RenderReport(report, columns), columns) << '\n';
    end_.checks = CountChecks(report);
    EnterInterruptPhase(InterruptPhase::kNone);
    std::cerr << FormatErrors(apply_.RecordVerification(FindVerificationOutcome(report)));
    const int verified = reconciler::FindExitCode(report);
    return verified == kFine ? code : verified;
  }

  const Cluster& cluster_;
  const PlanScope& scope_;
  const ApplyFlags& flags_;
  const Context& context_;
  ApplyDisplay& display_;
  EventLog& log_;
  bool carries_out_ = false;  // something is carried out, or was
  bool has_way_back_ = true;  // no difference was left that a rollback would change too
  std::string manifest_;
  ApplyEnd end_ = {};
  NodePool pool_;
  ClusterApply apply_;
};

// The code with which the program will end: what stdout did not take is no success, and less than
// any other outcome. main() says why it failed.
int JudgeResult(int code, bool events_on_stdout) {
  if (events_on_stdout || std::cout.flush()) return code;
  return code == kFine ? kUsageOrManifest : code;
}

}  // namespace

int RunWithEvents(const ApplyFlags& flags, const std::vector<InputFile>& inputs,
                  const std::function<int(EventLog&)>& run) {
  const bool to_stdout = flags.events_file == "-";
  const StdoutToStderr redirected(to_stdout);
  const auto fit = CheckOutputs(
      {{"--events", to_stdout ? "" : flags.events_file}, {"--log-file", flags.log_file}}, inputs);
  if (!fit) return PrintError(fit.error(), kUsageOrManifest);
  auto log = EventLog::Open(flags.events_file);
  if (!log) return PrintError(log.error(), kUsageOrManifest);
  EnterInterruptPhase(InterruptPhase::kBefore);
  const int code = JudgeResult(run(**log), to_stdout);
  const auto ended = (*log)->End(code);
  if (ended) return code;
  // Some of the events are no success, and less than any other outcome.
  return PrintError(ended.error(), code == kFine ? kUsageOrManifest : code);
}

int RunApply(const Cluster& cluster, const PlanScope& scope, const std::optional<Plan>& saved,
             const GenerationInfo& info, const ApplyFlags& flags, const Context& context,
             EventLog& log) {
  PlanScope wanted = scope;
  // A saved plan says for itself what it was made with: another one would not fit it.
  if (!saved) wanted.allow_half_cables = flags.allow_half_cables;
  wanted.allow_node_removal = flags.allow_node_removal;
  auto display = ApplyDisplay::Open(flags, context.no_colour);
  if (!display) return PrintError(display.error(), kUsageOrManifest);
  return ApplyRun(cluster, wanted, info, flags, context, **display, log).Execute(saved);
}

}  // namespace reconciler::cli
