#include "reconciler/apply/steps/apply_script.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>

#include "reconciler/base/digest.h"
#include "reconciler/base/number.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/helper/node_helper.h"

namespace reconciler {
namespace {

std::string BuildStageCall(const Action& action, std::size_t number) {
  struct Visitor {
    std::size_t number;
    std::string operator()(const WriteFile& write) const {
      std::string call = fmt::format(
          "stage_write {} {} {:04o} {} {} {} {}", number, QuoteForShell(write.path),
          write.state.mode, QuoteForShell(write.state.owner), QuoteForShell(write.state.group),
          QuoteForShell(write.state.content), QuoteForShell(write.trial.path));
      if (!write.state.mtime.empty()) call += " " + QuoteForShell(write.state.mtime);
      return call;
    }
    std::string operator()(const RemoveFile& remove) const {
      return fmt::format("stage_remove {} {} {}", number, QuoteForShell(remove.path),
                         QuoteForShell(remove.trial.path));
    }
    std::string operator()(const RunCommand&) const { return {}; }  // brings nothing
  };
  return std::visit(Visitor{number}, action);
}

// Seconds that a step may take; a write may wait for a slow disk.
int ComputeStepLimitS(const Action& action) {
  const auto* command = std::get_if<RunCommand>(&action);
  return command != nullptr ? command->time_limit_s + 3 : 10;
}

// Values stand alone: one that is refused leaves the others as they are.
bool SetsValue(const Action& action) {
  const auto* command = std::get_if<RunCommand>(&action);
  return command != nullptr && command->must_succeed;
}

std::string BuildStepCall(const Step& step, std::size_t number, bool marked) {
  struct Visitor {
    std::size_t number;
    bool prune;
    bool marked;
    std::string operator()(const WriteFile& write) const {
      return fmt::format("write_file {} {}", number, QuoteForShell(write.path));
    }
    std::string operator()(const RemoveFile& remove) const {
      return fmt::format("remove_file {} {}", number, QuoteForShell(remove.path));
    }
    std::string operator()(const RunCommand& command) const {
      std::string where;
      if (prune && !command.sets.empty()) {
        where = fmt::format("if_there {} ", QuoteForShell(command.sets));
      } else if (command.without_reload || !command.sets.empty()) {
        where = "without_reload ";
      }
      return fmt::format("{}command_step {} {} {} {}", where, marked ? std::to_string(number) : "-",
                         command.time_limit_s, QuoteForShell(command.user),
                         JoinForShell(command.argv));
    }
  };
  return std::visit(Visitor{number, step.prune, marked}, step.action);
}

std::string_view FindPath(const Action& action) {
  if (const auto* write = std::get_if<WriteFile>(&action)) return write->path;
  const auto* remove = std::get_if<RemoveFile>(&action);
  return remove == nullptr ? std::string_view() : remove->path;
}

// See Step::seen.
std::string FindSeen(const Change& change, const Action& action) {
  if (change.kind != "file" || FindPath(action) != change.name) return {};
  return change.before ? ComputeSha256Hex(change.before->content) : "absent";
}

}  // namespace

std::vector<Step> ListSteps(const std::vector<const Change*>& changes) {
  std::vector<Step> steps;
  std::vector<Step> triggers;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (const Action& action : changes[i]->actions) {
      steps.push_back({i, action, changes[i]->prune, FindSeen(*changes[i], action)});
    }
    for (const RunCommand& trigger : changes[i]->triggers) {
      const auto is_same = [&](const Step& one) {
        return std::get<RunCommand>(one.action).id == trigger.id;
      };
      if (trigger.id.empty() || std::none_of(triggers.begin(), triggers.end(), is_same)) {
        triggers.push_back({Step::kTrigger, trigger, changes[i]->prune});
      }
    }
  }
  std::move(triggers.begin(), triggers.end(), std::back_inserter(steps));
  return steps;
}

bool IsMarked(const std::vector<Step>& steps, std::size_t index) {
  return steps[index].change != Step::kTrigger || index == 0 ||
         steps[index - 1].change != Step::kTrigger;
}

std::string GetJournalDirectory(std::string_view apply_id) {
  return std::string(kStateFolder) + "/journal/" + std::string(apply_id);
}

std::string MakeApplyId(const Plan& plan) {
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{}-{:%Y%m%d%H%M%S}{}", plan.id.substr(0, 8), now, MakeNonce().substr(0, 8));
}

std::string BuildStageRequest(const std::vector<Step>& steps, std::size_t first_step,
                              std::string_view journal) {
  std::string script = AssignForShell({{"J", journal}}) + "begin_staging";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (IsMarked(steps, i)) script += fmt::format(" {}", first_step + i);
  }
  script += "\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string call = BuildStageCall(steps[i].action, first_step + i);
    if (!call.empty()) script += fmt::format("stage {}\n", call);
    if (!steps[i].seen.empty()) {
      script += fmt::format("stage expect {} {}\n", first_step + i, steps[i].seen);
    }
  }
  return script + "end_staging\n";
}

std::string BuildActivateRequest(const std::vector<Step>& steps, std::size_t first_step,
                                 std::string_view journal) {
  std::string script = AssignForShell({{"J", journal}}) + "begin_activation\n";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    script += fmt::format("{} {} {} {}\n", SetsValue(steps[i].action) ? "try_step" : "run_step",
                          ComputeStepLimitS(steps[i].action),
                          QuoteForShell(MakePrintable(Describe(steps[i].action))),
                          BuildStepCall(steps[i], first_step + i, IsMarked(steps, i)));
  }
  return script + "end_activation\n";
}

std::vector<StepReply> ParseApplyReply(const ScriptReply& reply, std::string_view nonce) {
  std::vector<StepReply> replies;
  Frame last;
  for (Frame& frame : ParseFrames(reply, nonce)) {
    if (frame.label.starts_with("exit ")) {
      const int exit_code = ParseNumber<int>(frame.label.substr(5)).value_or(-1);
      replies.push_back({exit_code, last.out, last.err});
    }
    last = std::move(frame);
  }
  return replies;
}

Milliseconds ComputeApplyLimit(const std::vector<Step>& steps) {
  int seconds = 20;
  for (const Step& step : steps) seconds += ComputeStepLimitS(step.action);
  return std::chrono::seconds(seconds);
}

}  // namespace reconciler
