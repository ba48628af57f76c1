#include "plugins/packages/install.h"

#include <algorithm>
#include <cstddef>

#include "plugins/common/commands/one_line.h"
#include "plugins/packages/remove_packages.sh.h"
#include "plugins/packages/remove_unneeded.sh.h"

namespace reconciler::plugins::packages {
namespace {

constexpr int kInstallLimitS = 900;  // with what is fetched, and 120 s for apt's lock
constexpr int kMarkLimitS = 60;
constexpr int kRemoveLimitS = 300;

constexpr std::string_view kRemoveSh = FindLastLine(kRemovePackagesSh);
constexpr std::string_view kUnneededSh = FindLastLine(kRemoveUnneededSh);

// No one is there to answer; needrestart, which Ubuntu runs after apt, would restart services of
// others (github.com/liske/needrestart).
RunCommand MakeApt(const std::vector<std::string>& options) {
  RunCommand command{
      .argv = {"env", "DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_SUSPEND=1", "apt-get", "-q",
               "-y", "--no-install-recommends", "--no-remove", "-o", "DPkg::Lock::Timeout=120",
               "-o", "Dpkg::Use-Pty=0", "-o", "Dpkg::Options::=--force-confdef", "-o",
               "Dpkg::Options::=--force-confold"},
      .time_limit_s = kInstallLimitS,
      .after_boot = true};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  return command;
}

RunCommand MakeRemoval(const std::vector<std::string>& names) {
  RunCommand command{.argv = {"sh", "-c", std::string(kRemoveSh), "sh"},
                     .time_limit_s = kRemoveLimitS};
  command.argv.insert(command.argv.end(), names.begin(), names.end());
  return command;
}

RunCommand MakeRemovalOfUnneeded(const std::vector<std::string>& names) {
  RunCommand command{.argv = {"sh", "-c", std::string(kUnneededSh), "sh"},
                     .time_limit_s = kRemoveLimitS};
  command.argv.insert(command.argv.end(), names.begin(), names.end());
  return command;
}

// The new packages that the manifest does not name, what needs others first.
std::vector<std::string> ListCompanions(const Installation& installation) {
  std::vector<std::string> names;
  for (auto step = installation.installed.rbegin(); step != installation.installed.rend(); ++step) {
    if (step->name != installation.name) names.push_back(step->name);
  }
  return names;
}

bool IsNew(const Installation& installation) {
  return std::any_of(installation.installed.begin(), installation.installed.end(),
                     [&](const PackageStep& step) { return step.name == installation.name; });
}

}  // namespace

std::vector<Action> ListInstallActions(const Installation& installation) {
  std::vector<std::string> words = {"install"};
  for (const auto* steps : {&installation.upgraded, &installation.installed}) {
    for (const PackageStep& step : *steps) words.push_back(step.name + "=" + step.to);
  }
  std::vector<Action> actions = {MakeApt(words)};
  const std::vector<std::string> companions = ListCompanions(installation);
  if (companions.empty()) return actions;
  RunCommand mark{.argv = {"apt-mark", "auto"}, .time_limit_s = kMarkLimitS, .after_boot = true};
  mark.argv.insert(mark.argv.end(), companions.begin(), companions.end());
  actions.push_back(std::move(mark));
  return actions;
}

std::vector<Action> ListRevertActions(const Installation& installation) {
  std::vector<Action> actions;
  if (!installation.upgraded.empty()) {
    std::vector<std::string> words = {"--allow-downgrades", "install"};
    for (const PackageStep& step : installation.upgraded) {
      words.push_back(step.name + "=" + step.from);
    }
    RunCommand downgrade = MakeApt(words);
    downgrade.must_succeed = true;
    actions.push_back(std::move(downgrade));
  }
  std::vector<std::string> names;
  for (const PackageStep& step : installation.installed) names.push_back(step.name);
  if (names.empty()) return actions;
  RunCommand removal = MakeRemoval(names);
  removal.must_succeed = true;
  removal.at_boot = true;
  actions.push_back(std::move(removal));
  return actions;
}

PruneCommands MakePrune(const Installation& installation, bool came_along) {
  PruneCommands commands;
  if (IsNew(installation)) {
    commands.after.push_back(came_along ? MakeRemovalOfUnneeded({installation.name})
                                        : MakeRemoval({installation.name}));
  }
  const std::vector<std::string> companions = ListCompanions(installation);
  if (!companions.empty()) commands.after.push_back(MakeRemovalOfUnneeded(companions));
  return commands;
}

void RemoveNames(const std::set<std::string>& names, RunCommand& command) {
  constexpr std::ptrdiff_t kBeforeNames = 4;  // sh -c SCRIPT sh
  if (command.argv.size() <= kBeforeNames) return;
  const auto first = command.argv.begin() + kBeforeNames;
  command.argv.erase(std::remove_if(first, command.argv.end(),
                                    [&](const std::string& name) { return names.contains(name); }),
                     command.argv.end());
}

}  // namespace reconciler::plugins::packages
