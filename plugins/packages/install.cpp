#include "plugins/packages/install.h"

#include <algorithm>
#include <cstddef>

#include "plugins/common/commands/one_line.h"
#include "plugins/packages/prune_packages.sh.h"
#include "plugins/packages/remove_packages.sh.h"

namespace reconciler::plugins::packages {
namespace {

constexpr int kInstallLimitS = 900;  // with what is fetched, and 120 s for apt's lock
constexpr int kMarkLimitS = 60;
constexpr int kRemoveLimitS = 300;
constexpr int kPruneLimitS = 900;  // package by package

constexpr std::string_view kRemoveSh = FindLastLine(kRemovePackagesSh);
constexpr std::string_view kPruneSh = FindLastLine(kPrunePackagesSh);
constexpr const char* kNone = "-";          // to kPruneSh
constexpr std::ptrdiff_t kBeforeNames = 4;  // sh -c SCRIPT sh

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

RunCommand MakePruneCommand(const std::string& own, const std::vector<std::string>& companions) {
  RunCommand command{.argv = {"sh", "-c", std::string(kPruneSh), "sh", own},
                     .time_limit_s = kPruneLimitS};
  command.argv.insert(command.argv.end(), companions.begin(), companions.end());
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

PruneCommands MakePrune(const Installation& installation) {
  const std::vector<std::string> companions = ListCompanions(installation);
  const bool is_new = IsNew(installation);
  if (!is_new && companions.empty()) return {};
  return {.after = {MakePruneCommand(is_new ? installation.name : kNone, companions)}};
}

void RenewPrune(const std::set<std::string>& listed, Change& change) {
  std::vector<std::string> names;
  for (const RunCommand& command : change.triggers) {
    if (command.argv.size() <= kBeforeNames) continue;
    names.insert(names.end(), command.argv.begin() + kBeforeNames, command.argv.end());
  }
  const bool is_own = std::find(names.begin(), names.end(), change.name) != names.end();
  std::erase_if(names, [&](const std::string& name) {
    return name == kNone || name == change.name || listed.contains(name);
  });
  change.triggers = {MakePruneCommand(is_own ? change.name : kNone, names)};
  change.detail += is_own ? "removed, unless another package needs it"
                          : "what came along is removed, unless another package needs it";
}

}  // namespace reconciler::plugins::packages
