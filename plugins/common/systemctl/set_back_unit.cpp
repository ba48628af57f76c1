#include "plugins/common/systemctl/set_back_unit.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/common/commands/one_line.h"
#include "plugins/common/systemctl/set_back_unit.sh.h"

namespace reconciler::plugins {
namespace {

constexpr std::string_view kSetBackSh = FindLastLine(kSetBackUnitSh);

void SkipWhereGone(RunCommand& command) {
  constexpr std::size_t kFewest = 4;  // systemctl VERB -- UNIT
  const std::vector<std::string>& argv = command.argv;
  if (argv.size() < kFewest || argv.front() != "systemctl" || *(argv.end() - 2) != "--") return;
  std::vector<std::string> guarded = {"sh", "-c", std::string(kSetBackSh), "sh", argv.back()};
  guarded.insert(guarded.end(), argv.begin() + 1, argv.end() - 2);
  command.argv = std::move(guarded);
}

}  // namespace

void SkipUnitsThatAreGone(Change& change) {
  for (Action& action : change.actions) {
    if (auto* command = std::get_if<RunCommand>(&action)) SkipWhereGone(*command);
  }
  for (RunCommand& trigger : change.triggers) SkipWhereGone(trigger);
}

}  // namespace reconciler::plugins
