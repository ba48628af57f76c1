#include "reconciler/apply/guard/revert_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr int kGeneratorLimitS = 30;

std::string FormatCommand(const RunCommand& command) {
  const std::string argv = JoinForShell(command.argv);
  return fmt::format("as {} timeout -k 2 {} {}", QuoteForShell(command.user), command.time_limit_s,
                     argv);
}

std::vector<Step> ListSteps(const GuardedStage& stage) {
  std::vector<const Change*> changes;
  for (const Change& change : stage.changes) changes.push_back(&change);
  return ListSteps(changes);
}

// Only what had begun is reverted, and only where it is.
std::string BuildIfBegun(std::size_t step, std::string_view how, const RunCommand& command) {
  const std::string where = !command.sets.empty()
                                ? fmt::format("if_there {} ", QuoteForShell(command.sets))
                            : command.without_reload ? "without_reload "
                                                     : "";
  return fmt::format("if_begun {} {}{} {}\n", step, where, how, FormatCommand(command));
}

std::string DefineFunction(std::string_view name, const std::string& calls) {
  return fmt::format("{}() {{\n:\n{}}}\n", name, calls);
}

// A prune sets live values back to what they were before us. That makes nothing of restored files,
// and what reverts it runs only where the prune had begun.
bool SetsBack(const Step& step, const RunCommand& command) {
  return step.prune && !command.sets.empty();
}

// What the triggers make of the restored files.
std::string BuildTriggersAgain(const GuardedStage& stage) {
  std::string text;
  for (const Step& step : ListSteps(stage)) {
    if (step.change != Step::kTrigger) continue;
    const auto& command = std::get<RunCommand>(step.action);
    // A file may have changed although its trigger had not begun.
    if (!command.makes.empty() || SetsBack(step, command)) continue;
    text += BuildIfBegun(stage.first_step, "live", command);
  }
  return text;
}

enum class RevertAt { kOnce, kAfterTriggers, kBoot };

// Each change's own revert, newest change first. A change without steps is done by the triggers,
// and so it is done again when they have run again.
std::string BuildRevertCommands(const GuardedStage& stage, RevertAt at) {
  const std::vector<Step> steps = ListSteps(stage);
  std::string text;
  for (std::size_t i = stage.changes.size(); i-- > 0;) {
    const auto own = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.change == i ||
             (stage.changes[i].actions.empty() && step.change == Step::kTrigger);
    });
    if (own == steps.end()) continue;
    const auto number = at == RevertAt::kAfterTriggers && own->change == Step::kTrigger
                            ? stage.first_step
                            : stage.first_step + static_cast<std::size_t>(own - steps.begin());
    for (const Action& action : stage.changes[i].revert) {
      const auto* command = std::get_if<RunCommand>(&action);
      if (command == nullptr) continue;
      if (at == RevertAt::kBoot && command->after_boot) {
        text += BuildIfBegun(number, "postpone", *command);
      } else if (at == RevertAt::kBoot && command->at_boot) {
        text += BuildIfBegun(number, command->must_succeed ? "once" : "live", *command);
      } else if (at != RevertAt::kBoot) {
        const bool last =
            at == RevertAt::kAfterTriggers && (command->must_succeed || command->after_boot);
        text += BuildIfBegun(number, last ? "last" : "live", *command);
      }
    }
  }
  return text;
}

// Values of the kernel that the apply no longer sets. A boot during the trial reads the old file
// beside the new one, and a value that only the old one has holds again.
std::string BuildReleasesAgain(const GuardedStage& stage) {
  std::string text;
  for (const Step& step : ListSteps(stage)) {
    const auto* command = std::get_if<RunCommand>(&step.action);
    if (command == nullptr || !step.prune || !command->sets.starts_with("/proc/sys/")) continue;
    text +=
        fmt::format("if_there {} live {}\n", QuoteForShell(command->sets), FormatCommand(*command));
  }
  return text;
}

// Each generator once, whichever of its steps had begun.
std::string BuildGenerators(const std::vector<GuardedStage>& stages) {
  std::map<std::vector<std::string>, std::string> numbers;  // of the steps, by generator
  for (const GuardedStage& stage : stages) {
    const std::vector<Step> steps = ListSteps(stage);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Trial trial = GetTrial(steps[i].action);
      if (trial.generator.empty()) continue;
      std::string& list = numbers[trial.generator];
      list += fmt::format("{}{}", list.empty() ? "" : " ", stage.first_step + i);
    }
  }
  std::string text;
  for (const auto& [generator, steps] : numbers) {
    text += fmt::format("if_any_begun {} live with_usual_umask timeout -k 2 {} {}\n",
                        QuoteForShell(steps), kGeneratorLimitS, JoinForShell(generator));
  }
  return text;
}

}  // namespace

std::string BuildRevertFunctions(const std::vector<GuardedStage>& stages) {
  std::string before;
  std::string after;
  std::string again;
  std::string at_boot;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    before += BuildRevertCommands(*stage, RevertAt::kOnce);
    again += BuildRevertCommands(*stage, RevertAt::kAfterTriggers);
    at_boot += BuildRevertCommands(*stage, RevertAt::kBoot);
  }
  std::string released;
  for (const GuardedStage& stage : stages) {
    after += BuildTriggersAgain(stage);
    released += BuildReleasesAgain(stage);
  }
  // Some states need the new files to be reverted (a unit's links), others the old ones (a
  // reload). A revert sets a state, so that twice is as good as once.
  after += again;
  return DefineFunction("revert_at_boot", at_boot) + DefineFunction("revert_before_files", before) +
         DefineFunction("revert_after_files", after) + DefineFunction("release_again", released) +
         DefineFunction("generate_at_boot", BuildGenerators(stages));
}

std::set<std::string> ListGenerated(const std::vector<GuardedStage>& stages) {
  std::set<std::string> files;
  for (const GuardedStage& stage : stages) {
    for (const Step& step : ListSteps(stage)) {
      if (const auto* command = std::get_if<RunCommand>(&step.action)) {
        files.insert(command->makes.begin(), command->makes.end());
      }
    }
  }
  return files;
}

}  // namespace reconciler
