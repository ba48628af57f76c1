#include "plugins/units/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plugins/common/commands/one_line.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/packages/coming.h"
#include "plugins/common/systemctl/gpu_containers.h"
#include "plugins/common/systemctl/install_section.h"
#include "plugins/common/systemctl/set_back_unit.h"
#include "plugins/common/systemctl/set_enabled.h"
#include "plugins/units/section.h"
#include "plugins/units/socket.h"
#include "plugins/units/state.h"
#include "plugins/units/stop_at_boot.sh.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::units {
namespace {

constexpr std::string_view kStopSh = FindLastLine(kStopAtBootSh);
constexpr int kReloadLimitS = 60;
constexpr int kJobLimitS = 120;  // systemd's own limit for starting or stopping is 90 s

std::string MakeUnitPath(const UnitSpec& unit) { return "/etc/systemd/system/" + unit.name; }

std::string MakeDropInPath(const UnitSpec& unit, const std::string& file) {
  return fmt::format("/etc/systemd/system/{}.d/{}", unit.name, file);
}

RunCommand Reload() {
  return {.argv = {"systemctl", "daemon-reload"},
          .time_limit_s = kReloadLimitS,
          .id = "reload systemd"};
}

// What ran before us must run again; what we started may be gone with its file.
RunCommand MakeJob(std::string_view verb, const UnitSpec& unit) {
  return {.argv = {"systemctl", std::string(verb), "--", unit.name},
          .time_limit_s = kJobLimitS,
          .id = fmt::format("{} {}", verb, unit.name),
          .must_succeed = verb == "start"};
}

// After a power loss the start that our link requested waits in the boot's queue; this takes its
// place.
RunCommand MakeStopAtBoot(const UnitSpec& unit) {
  return {.argv = {"sh", "-c", std::string(kStopSh), "sh", unit.name}, .at_boot = true};
}

RunCommand MakeFindCommand(const UnitSpec& unit) {
  return {.argv = {"systemctl", "cat", "--no-pager", "--", unit.name}};
}

std::vector<std::string> ListPaths(const UnitSpec& unit) {
  std::vector<std::string> paths;
  if (unit.content) paths.push_back(MakeUnitPath(unit));
  for (const auto& [file, text] : unit.drop_ins) paths.push_back(MakeDropInPath(unit, file));
  return paths;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const std::vector<UnitSpec> units = ReadUnits(cluster, node.name);
  std::vector<Read> reads = ListStateReads(units);
  for (const UnitSpec& unit : units) {
    for (const std::string& path : ListPaths(unit)) reads.push_back(ReadFile{path});
  }
  reads.push_back(MakeGpuContainerProbe());  // also for prunes, and for whoever else reloads
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  ParseStates(reply, facts);
  StoreGpuContainers(reply, facts);
}

bool Runs(const Observed<UnitState>& observed) {
  const UnitState* state = Known(observed);
  return state != nullptr && (state->active == "active" || state->active == "reloading");
}

// Or is starting or ending: a job of Type=oneshot is starting while it runs.
bool MayRun(const Observed<UnitState>& observed) {
  const UnitState* state = Known(observed);
  return Runs(observed) ||
         (state != nullptr && (state->active == "activating" || state->active == "deactivating"));
}

// The unit, or for a socket its service, which a restart ends too. One that was not read may run: a
// file of others names it.
bool EndsByRestart(const PluginInput& input, const UnitSpec& unit) {
  const Observed<UnitState> observed = FindState(input.facts, unit.name);
  if (MayRun(observed)) return true;
  const std::string service = NameSocketService(unit);
  if (service.empty()) return false;
  const UnitState* state = Known(observed);
  const std::vector<std::string> named =
      state == nullptr ? std::vector<std::string>() : state->triggers;
  return MayRun(FindState(input.facts, service)) ||
         std::any_of(named.begin(), named.end(), [&](const std::string& name) {
           return !input.facts.units.states.contains(name) || MayRun(FindState(input.facts, name));
         });
}

// Packages of the same apply, of which each may bring the unit, enable it and start it. Empty: the
// unit is there, or nothing brings it.
std::vector<std::string> ListPackagesBefore(const PluginInput& input, const UnitSpec& unit,
                                            const UnitState& state) {
  if (state.load != "not-found" || unit.content) return {};
  return ListPackagesThatBring(input.facts, [](const std::string&) { return true; });
}

bool IsBroughtLater(const PluginInput& input, const UnitSpec& unit,
                    const Observed<UnitState>& observed) {
  const UnitState* state = Known(observed);
  return state != nullptr && !ListPackagesBefore(input, unit, *state).empty();
}

// What runs would not be what the manifest says while one of the files is not.
Obstacle FindUnitObstacle(const PluginInput& input, const UnitSpec& unit, const UnitState& state) {
  Obstacle obstacle;
  if (ListPackagesBefore(input, unit, state).empty()) obstacle = FindObstacle(unit, state);
  for (const std::string& path : ListPaths(unit)) {
    if (!obstacle.empty()) break;
    obstacle = FindFileObstacle(input.facts, path, input.cluster.name, input.cluster.former_name);
  }
  return obstacle;
}

// Shown as blocked, or would be if it differed: nothing may start or stop it.
bool IsBlocked(const PluginInput& input, const UnitSpec& unit,
               const Observed<UnitState>& observed) {
  const UnitState* state = Known(observed);
  if (state == nullptr || !FindUnitObstacle(input, unit, *state).empty()) return true;
  return std::holds_alternative<Unknown>(DescribeObserved(unit, observed));
}

Observed<std::string> GetUnitFile(const Observed<UnitState>& observed) {
  return AndThen(observed,
                 [](const UnitState& state) { return Observed<std::string>(state.unit_file); });
}

void AddFiles(const PluginInput& input, const UnitSpec& unit, std::vector<Resource>& resources) {
  const Observed<UnitState> state =
      unit.HasState() ? FindState(input.facts, unit.name) : Observed<UnitState>(Absent{});
  const bool restarts = unit.active == true && !IsBlocked(input, unit, state);
  const auto add = [&](const std::string& path, const std::string& body) {
    Resource resource{
        .kind = "file",
        .name = path,
        .node = input.node.name,
        .desired = ResourceState(FileState{.content = FormatOwnedFile(input.cluster.name, body)}),
        .observed = AsState(FindFile(input.facts, path)),
        .triggers = {Reload()},
        .prune_commands = PruneCommands{.after = {Reload()}},
        .interrupts = ListCutOffByReload(input.facts),
        .where = input.cluster.Mark(unit.position)};
    // A unit that others installed goes on without our drop-in, unless the same prune stops it.
    if (restarts && !unit.content) {
      RunCommand job = MakeJob("try-restart", unit);
      job.id = MakeJob("restart", unit).id;  // where a file of the unit changes too, once is enough
      resource.prune_commands->after.push_back(std::move(job));
    }
    if (restarts) {
      if (IsBroughtLater(input, unit, state)) {
        resource.needs = {fmt::format("{}/unit/{}", input.node.name, unit.name)};
      }
      resource.triggers.push_back(StartAroundService(MakeJob("restart", unit)));
      if (EndsByRestart(input, unit)) resource.impact = Impact::kServiceRestart;
    }
    BlockUnlessOurs(resource, input.cluster.name, input.cluster.former_name);
    resources.push_back(std::move(resource));
  };
  if (unit.content) {
    add(MakeUnitPath(unit), *unit.content);
    if (unit.enabled == true) {
      RelinkWhereInstallChanges(resources.back(), unit.name, GetUnitFile(state));
    }
  }
  for (const auto& [file, text] : unit.drop_ins) add(MakeDropInPath(unit, file), text);
}

// Two words of which a key of the manifest has one.
using Either = std::array<std::string_view, 2>;

bool HasEither(const std::vector<std::string>& words, const Either& either) {
  return std::find_first_of(words.begin(), words.end(), either.begin(), either.end()) !=
         words.end();
}

// The entry of an earlier apply; nullptr: there is none.
const LedgerEntry* FindEntry(const NodeFacts& facts, const UnitSpec& unit) {
  const Ledger* ledger = Known(facts.ledger);
  return ledger == nullptr ? nullptr : ledger->Find("unit/" + unit.name);
}

// Whether the entry managed the key before: it has a command for it, or none because the key held
// by the first apply, so that a prune leaves it alone.
bool HasManaged(const LedgerEntry* entry, const Either& states, const Either& verbs) {
  if (entry == nullptr) return false;
  if (entry->applied && HasEither(Split(*entry->applied, ' '), states)) return true;
  return std::any_of(entry->original.begin(), entry->original.end(), [&](const Action& action) {
    const auto* command = std::get_if<RunCommand>(&action);
    return command != nullptr && HasEither(command->argv, verbs);
  });
}

// Our unit's file may be gone afterwards, so all of it comes before. A unit that we made is left
// without links and stopped; another one gets back what it had. Of a unit that the ledger has, only
// the keys that it did not manage, since the entry may have got `enabled` or `active` later.
PruneCommands MakePruneCommands(const PluginInput& input, const UnitSpec& unit,
                                const UnitState& before, bool ran) {
  const LedgerEntry* entry = FindEntry(input.facts, unit);
  const bool managed_enabled = HasManaged(entry, {"enabled", "disabled"}, {"enable", "disable"});
  const bool managed_active = HasManaged(entry, {"active", "inactive"}, {"start", "stop"});
  PruneCommands prune_commands;
  if (unit.enabled) prune_commands.after.push_back(Reload());
  const bool had_links = before.unit_file == "enabled";
  const bool can_set = had_links || before.unit_file == "disabled" || before.unit_file.empty();
  if (unit.enabled && can_set && !managed_enabled) {
    prune_commands.before.push_back(SetEnabled(unit.name, had_links));
  }
  if (unit.active && *unit.active != ran && !managed_active) {
    prune_commands.before.push_back(MakeJob(ran ? "start" : "stop", unit));
  }
  prune_commands.adds = entry != nullptr && !prune_commands.before.empty();
  return prune_commands;
}

// systemd shows a unit's links as they were when it read them. A start or stop alone needs no
// reload.
bool NeedsReload(const UnitSpec& unit, const UnitState& state) {
  UnitSpec links = unit;
  links.active.reset();
  const Observed<std::string> observed = DescribeObserved(links, state);
  const std::string* text = Known(observed);
  return state.stale || (unit.enabled && (text == nullptr || *text != DescribeDesired(links)));
}

// Links are made or removed at once, stopping happens at once; starting waits for the triggers,
// when the files of all units are there and systemd has read them. `restart` starts a unit that
// does not run, so it is the same trigger as that of a changed file, and runs once.
Resource MakeState(const PluginInput& input, const UnitSpec& unit) {
  const Observed<UnitState> observed = FindState(input.facts, unit.name);
  Resource resource{.kind = "unit",
                    .name = unit.name,
                    .node = input.node.name,
                    .desired = ResourceState(DescribeDesired(unit)),
                    .observed = AsState(DescribeObserved(unit, observed)),
                    .where = input.cluster.Mark(unit.position)};
  const UnitState* state = Known(observed);
  if (state == nullptr) return resource;
  if (NeedsReload(unit, *state)) {
    resource.triggers.push_back(Reload());
    resource.interrupts = ListCutOffByReload(input.facts);
  }
  resource.blocked = FindUnitObstacle(input, unit, *state);
  if (auto packages = ListPackagesBefore(input, unit, *state); !packages.empty()) {
    DeferUntilInstalled("the unit", std::move(packages), resource);
    resource.interrupts = ListCutOffByReload(input.facts);
    return resource;
  }
  const bool runs = Runs(observed);
  resource.prune_commands = MakePruneCommands(input, unit, *state, runs);
  if (unit.enabled) {
    resource.apply.push_back(SetEnabled(unit.name, *unit.enabled));
    // Empty: the unit does not exist yet, and must not leave a link behind when it goes again.
    const std::string& before = state->unit_file;
    if (before == "enabled" || before == "disabled" || before.empty()) {
      resource.revert.push_back(SetEnabled(unit.name, before == "enabled"));
      // Once its file is gone the command fails, which systemd 255 takes for a change of all units
      // that is not loaded yet.
      if (before.empty()) resource.revert.push_back(Reload());
      if (before == "disabled" && *unit.enabled && !runs) {
        resource.revert.push_back(MakeStopAtBoot(unit));
      }
    }
  }
  if (unit.active == false) {
    resource.apply.push_back(MakeJob("stop", unit));
    if (runs) resource.revert.push_back(StartAroundService(MakeJob("start", unit)));
  }
  // The one state that only the triggers bring about. The step that stands for it makes sure that
  // systemd finds the unit at all, before anything is restarted.
  if (resource.apply.empty()) resource.apply.push_back(MakeFindCommand(unit));
  if (unit.active == true && (!runs || state->stale)) {
    resource.triggers.push_back(StartAroundService(MakeJob("restart", unit)));
    if (EndsByRestart(input, unit)) resource.impact = Impact::kServiceRestart;
    if (!runs) {
      resource.revert.push_back(MakeJob("stop", unit));
      // A start that failed leaves "failed" behind, also when the unit's file is gone again.
      resource.revert.push_back(MakeJob("reset-failed", unit));
    }
  }
  return resource;
}

// All files first: a link or a start may need a file of another unit.
std::vector<Resource> Resources(const PluginInput& input) {
  const std::vector<UnitSpec> units = ReadUnits(input.cluster, input.node.name);
  std::vector<Resource> resources;
  for (const UnitSpec& unit : units) AddFiles(input, unit, resources);
  for (const UnitSpec& unit : units) {
    if (unit.HasState()) resources.push_back(MakeState(input, unit));
  }
  return resources;
}

// Ledgers of earlier versions have `restart`, which starts what the same prune has stopped.
void RestartOnlyWhatRuns(Change& change) {
  for (RunCommand& trigger : change.triggers) {
    const std::vector<std::string>& argv = trigger.argv;
    if (argv.size() < 2 || argv[0] != "systemctl" || argv[1] != "restart") continue;
    trigger.argv[1] = "try-restart";
  }
}

// The ledger has plain commands for a prune, and that of an earlier version for its revert too.
void StartSocketsAroundServices(Change& change) {
  for (std::vector<Action>* actions : {&change.actions, &change.revert}) {
    for (Action& action : *actions) {
      auto* command = std::get_if<RunCommand>(&action);
      if (command != nullptr) *command = StartAroundService(std::move(*command));
    }
  }
  for (RunCommand& trigger : change.triggers) trigger = StartAroundService(std::move(trigger));
}

Ownership CheckPrune(const PluginInput& input, Change& change) {
  RestartOnlyWhatRuns(change);
  StartSocketsAroundServices(change);
  SkipUnitsThatAreGone(change);
  NameCutOffByReload(input.facts, change);
  return Ownership::kOurs;
}

}  // namespace

Plugin Get() {
  return {.name = "units",
          .after = {kAllOthers},  // a service may need what any other plugin brings
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .check = CheckUnits};
}

}  // namespace reconciler::plugins::units
