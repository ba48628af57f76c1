#include "reconciler/apply/drill.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "reconciler/apply/drill.sh.h"
#include "reconciler/apply/guard/guard.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/helper/node_helper.h"
#include "reconciler/node/lock.h"

namespace reconciler {
namespace {

constexpr Milliseconds kLimit{20000};
// Below the journal: they go with it when the drill is cut off.
constexpr std::string_view kOver = "drill/kept";
constexpr std::string_view kNew = "drill/new/folder/file";
constexpr std::string_view kTried = "/etc/sysctl.d/99-spark-reconcile-drill.conf";
constexpr std::string_view kTrial = "/run/sysctl.d/99-spark-reconcile-drill.conf";
constexpr std::string_view kValue = "net.ipv4.conf.lo.tag";
constexpr std::string_view kKept = "kept as it is";
constexpr std::string_view kContent = "written by the drill; it is reverted automatically\n";

Change MakeFileChange(const NodeName& node, std::string_view path, std::string_view trial = {}) {
  return {.kind = "file",
          .name = std::string(path),
          .node = node,
          .plugin = "drill",
          .actions = {WriteFile{std::string(path),
                                {.content = "# " + std::string(kContent)},
                                {.path = std::string(trial)}}}};
}

// What the drill changes; `journal` is its folder, `tag` what the value is now.
std::vector<Stage> MakeDrillStages(const NodeName& node, const std::string& journal,
                                   const std::string& tag) {
  const auto set = [](const std::string& value) {
    return RunCommand{.argv = {"sysctl", "-w", "--", fmt::format("{}={}", kValue, value)},
                      .must_succeed = true};
  };
  Change over = MakeFileChange(node, fmt::format("{}/{}", journal, kOver));
  over.before = FileState{.content = std::string(kKept)};
  return {{.plugins = {"drill"},
           .changes = {std::move(over),
                       MakeFileChange(node, fmt::format("{}/{}", journal, kNew)),
                       MakeFileChange(node, kTried, kTrial),
                       {.kind = "value",
                        .name = std::string(kValue),
                        .node = node,
                        .plugin = "drill",
                        .actions = {set(tag == "4242" ? "4243" : "4242")},
                        .revert = {set(tag)}}}}};
}

std::string BuildStateScript(const std::string& journal) {
  return fmt::format(
      "{0}print_state {1}/{2}\nprint_state {1}/{3}\nprint_state {4}\nprint_state {5}\nprint_value "
      "{6}\n",
      kDrillSh, journal, kOver, kNew, kTried, kTrial, kValue);
}

Result<std::vector<std::string>> ReadState(const NodeSpec& node, const std::string& journal,
                                           NodePool& pool) {
  const auto reply =
      pool.Run(node, BuildScriptPreamble(MakeNonce()) + BuildStateScript(journal), kLimit);
  if (!reply) return Fail(reply.error());
  std::vector<std::string> lines = SplitLines(reply->out);
  if (lines.empty() || reply->out.find('\0') != std::string::npos) {
    return Fail(MakeNodeError(ErrorKind::kApply, node.name, "its state could not be read"));
  }
  return lines;
}

// One drill, from a fresh session to the node's own decision.
class DrillRun {
 public:
  DrillRun(const NodeSpec& node, NodePool& pool, const GuardTimes& times, Milliseconds slack)
      : node_(node), pool_(pool), times_(times), slack_(slack) {}

  DrillReport Execute(const std::string& lease) {
    if (Change(lease)) Watch();
    return std::move(report_);
  }

 private:
  // Everything up to the moment when the controller vanishes.
  bool Change(const std::string& lease) {
    const auto sessions = Sessions::OpenAll({&node_}, pool_, lease);
    if (!sessions) return RecordError(sessions.error());
    for (const Error& error : (*sessions)->GetLeftOut()) return RecordError(error);
    report_.began = true;
    EndedApplies unfinished = EndUnfinishedApplies({&node_}, /*whole=*/false, **sessions);
    report_.ended = std::move(unfinished.lines);
    if (unfinished.error) return RecordError(*unfinished.error);
    Plan plan{.id = MakeNonce()};
    apply_id_ = MakeApplyId(plan);
    Journal journal{.directory = GetJournalDirectory(apply_id_)};
    const auto made = (*sessions)->Run(
        node_,
        fmt::format("{}keep {}/{} {}\n", kDrillSh, journal.directory, kOver, QuoteForShell(kKept)),
        kLimit);
    if (!made || made->exit_code != 0)
      return RecordError(MakeNodeError(ErrorKind::kApply, node_.name, "nothing can be written"));
    auto before = ReadState(node_, journal.directory, pool_);
    if (!before) return RecordError(before.error());
    before_ = std::move(*before);
    const std::string tag = before_.back().substr(before_.back().find(' ') + 1);

    plan.stages = MakeDrillStages(node_.name, journal.directory, tag);
    ClusterSpec cluster;
    cluster.nodes = {node_};
    pool_.DropAll();
    Guard guard(cluster, **sessions, apply_id_, times_);
    for (Error& error : guard.StageAndArm(plan, Fabric(), journal))
      return RecordError(std::move(error));
    const ApplyReport applied = Apply(plan, cluster, **sessions, journal, [](const Event&) {});
    vanished_ = std::chrono::steady_clock::now();
    for (const auto& [name, node] : applied.nodes) {
      for (const Error& error : node.errors) return RecordError(error);
    }
    const auto during = ReadState(node_, journal.directory, pool_);
    if (!during) return RecordReadError(during.error());
    if (*during == before_) {
      return RecordError(MakeNodeError(ErrorKind::kApply, node_.name,
                                       "the trial changed nothing, so that nothing can be proved"));
    }
    return true;
  }

  // From here on only eyes.
  void Watch() {
    const auto deadline = vanished_ + std::chrono::seconds(times_.revert_after) + slack_;
    const std::string read = fmt::format("cat {}/state", GetJournalDirectory(apply_id_));
    for (;;) {
      const bool is_last = std::chrono::steady_clock::now() >= deadline;
      const auto state = pool_.Run(node_, read, kLimit);
      report_.reverted = state && Trim(state->out) == "reverted";
      report_.reverted_after_s = CountSecondsSinceVanished();
      if (report_.reverted) return Compare();
      if (is_last) {
        RecordError(state ? MakeNotRevertedError() : MakeNotReachedError(state.error()));
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }

  Error MakeNotRevertedError() const {
    return MakeNodeError(
        ErrorKind::kApply, node_.name,
        fmt::format("did not revert the trial within {:.0f} s: run `sh {}/guard revert` there, "
                    "and do not trust applies to this node",
                    report_.reverted_after_s, GetJournalDirectory(apply_id_)));
  }

  double CountSecondsSinceVanished() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - vanished_).count();
  }

  // Such a node may have reverted it all the same.
  Error MakeNotReachedError(Error error) const {
    error.kind = ErrorKind::kTransport;
    if (report_.reverted) {
      error.message += fmt::format(
          "; it reverted the trial {:.0f} s after the last sign of life, but whether all is as "
          "before is not known",
          report_.reverted_after_s);
      error.hint = "run the drill again once the node is reached";
      return error;
    }
    error.message += fmt::format(
        "; not reached {:.0f} s after the last sign of life, so whether it reverted the trial is "
        "not known",
        CountSecondsSinceVanished());
    const std::chrono::duration<double> most = std::chrono::seconds(times_.revert_after) + slack_;
    error.hint = fmt::format(
        "`cat {0}/state` there prints 'reverted' where it did. Where it prints anything else "
        "{1:.0f} s after the last sign of life, run `sh {0}/guard revert` there, and do not trust "
        "applies to this node",
        GetJournalDirectory(apply_id_), most.count());
    return error;
  }

  void Compare() {
    const std::string journal = GetJournalDirectory(apply_id_);
    const auto after = ReadState(node_, journal, pool_);
    if (!after) {
      RecordReadError(after.error());
      return;
    }
    if (after->size() != before_.size()) {
      RecordError(MakeNodeError(ErrorKind::kApply, node_.name, "its state could not be read"));
      return;
    }
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (before_[i] == (*after)[i]) {
        report_.checked.push_back(MakePrintable(before_[i].substr(0, before_[i].find(' '))));
      } else {
        RecordError(
            MakeNodeError(ErrorKind::kApply, node_.name,
                          fmt::format("is not as before: {} was {}", MakePrintable((*after)[i]),
                                      MakePrintable(before_[i]))));
      }
    }
    static_cast<void>(pool_.Run(node_, fmt::format("rm -rf {}/drill", journal), kLimit));
  }

  // Of a reading after the controller has vanished.
  bool RecordReadError(const Error& error) {
    return RecordError(error.kind == ErrorKind::kTransport ? MakeNotReachedError(error) : error);
  }

  bool RecordError(Error error) {
    report_.errors.push_back(std::move(error));
    return false;
  }

  const NodeSpec& node_;
  NodePool& pool_;
  GuardTimes times_;
  Milliseconds slack_;
  std::string apply_id_ = {};
  std::vector<std::string> before_ = {};
  std::chrono::steady_clock::time_point vanished_ = {};
  DrillReport report_ = {};
};

}  // namespace

DrillReport Drill(const NodeSpec& node, NodePool& pool, const GuardTimes& times,
                  const std::string& lease, Milliseconds slack) {
  return DrillRun(node, pool, times, slack).Execute(lease);
}

}  // namespace reconciler
