#include "plugins/netplan/boot_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plugins/common/commands/one_line.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/systemctl/login_units.h"
#include "plugins/common/systemctl/set_enabled.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/references.h"
#include "plugins/netplan/reads/boot_services.h"
#include "plugins/netplan/reads/rdma_users.h"
#include "plugins/netplan/scripts/start_unit.sh.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kUnitKind = "unit";
constexpr std::string_view kRequiring = ".requires";
constexpr int kStopLimitS = 120;  // systemd's own limit is 90 s
constexpr int kStartLimitS = 70;  // see start_unit.sh

constexpr std::string_view kStartSh = FindLastLine(kStartUnitSh);

void RefuseUnit(std::string why, std::string next_step, BootUnit& unit) {
  unit.why_not = std::move(why);
  unit.next_step = std::move(next_step);
}

bool IsEnabled(const BootService& service) { return !service.wanted_by.empty(); }

bool IsActive(const BootService& service) {
  return service.active == "active" || service.active == "reloading";
}

// Of an instance its template, too.
bool IsUnitFile(const BootService& service, const std::string& path) {
  const std::string name = GetBasename(path);
  return name == service.name || name == NameTemplate(service.name);
}

// The first timer that starts it; empty: there is none.
std::string FindTimer(const BootService& service) {
  const auto timer = std::find_if(service.wanted_by.begin(), service.wanted_by.end(),
                                  [](const std::string& one) { return one.ends_with(".timer"); });
  return timer == service.wanted_by.end() ? "" : *timer;
}

std::string AdviseToDisable(const BootUnit& unit) {
  return "systemctl disable " + unit.service.name;
}

void FindOurs(const std::vector<std::string>& netdevs, BootUnit& unit) {
  for (const std::string& netdev : netdevs) {
    const bool named = std::any_of(
        unit.service.files.begin(), unit.service.files.end(), [&](const BootFile& file) {
          return std::find(file.netdevs.begin(), file.netdevs.end(), netdev) != file.netdevs.end();
        });
    if (named) unit.ours.push_back(netdev);
  }
  const auto script = std::find_if(
      unit.service.files.begin(), unit.service.files.end(),
      [&](const BootFile& one) { return one.configures && !IsUnitFile(unit.service, one.path); });
  if (script != unit.service.files.end()) unit.script = script->path;
}

bool Configures(const BootService& service) {
  return std::any_of(service.files.begin(), service.files.end(),
                     [](const BootFile& file) { return file.configures; });
}

// A stop or a start of what configures the way to the node could cut it off.
void CheckWayToNode(const Protection& protection, BootUnit& unit) {
  for (const BootFile& file : unit.service.files) {
    for (const std::string& netdev : file.netdevs) {
      const auto carries = protection.carries.find(netdev);
      if (carries == protection.carries.end()) continue;
      const std::string ours = unit.ours.empty() ? "our ports" : Join(unit.ours, ", ");
      RefuseUnit(fmt::format("{} names {} too, which {}", file.path, netdev, carries->second),
                 fmt::format("remove what it says of {}, and leave the rest in effect", ours),
                 unit);
      return;
    }
  }
  if (CarriesLogin(unit.service.name)) {
    RefuseUnit("it carries the login to the node", "remove what it says of our ports", unit);
  }
  if (!protection.unclear.empty()) RefuseUnit(protection.unclear, "leave it as it is", unit);
}

// What `systemctl enable` would not bring back as it was.
void CheckEnabling(BootUnit& unit) {
  const BootService& service = unit.service;
  const bool as_installed = !IsEnabled(service) || service.wanted_by == service.installs;
  if (!as_installed) {
    RefuseUnit("it is enabled in another way than its [Install] section says",
               AdviseToDisable(unit), unit);
  }
  const bool is_required =
      std::any_of(service.wanted_by.begin(), service.wanted_by.end(),
                  [](const std::string& folder) { return folder.ends_with(kRequiring); });
  if (is_required) {
    RefuseUnit("another unit requires it, and would be stopped with it", AdviseToDisable(unit),
               unit);
  }
  if (const std::string timer = FindTimer(service); !timer.empty()) {
    RefuseUnit(fmt::format("{} starts it", timer), "systemctl disable --now " + timer, unit);
  }
  if (service.linked) RefuseUnit("its unit is a symbolic link", AdviseToDisable(unit), unit);
  for (const BootFile& file : service.files) {
    if (!file.digest.empty()) continue;
    RefuseUnit(fmt::format("{} is larger than 64 KiB, and is not looked at", file.path),
               AdviseToDisable(unit), unit);
  }
  if (service.files.empty() || !IsUnitFile(service, service.files.front().path)) {
    RefuseUnit("its unit is not read: it is no text", AdviseToDisable(unit), unit);
  }
}

std::vector<std::string> ListNetdevs(const PluginInput& input) {
  std::vector<std::string> netdevs = ListDownNetdevs(input);
  std::vector<std::string> ports;
  for (const RailPort& port : GetPorts(input.fabric, input.node.name)) ports.push_back(port.netdev);
  netdevs.insert(netdevs.begin(), ports.begin(), ports.end());
  return netdevs;
}

// Its template has the interface as %i.
void AddInstance(const PluginInput& input, BootService& service) {
  if (NameTemplate(service.name).empty() || service.files.empty()) return;
  std::string name = service.name.substr(service.name.find('@') + 1);
  name.resize(name.rfind('.'));
  const std::vector<std::string> ours = ListNetdevs(input);
  const bool is_interface =
      input.facts.links.contains(name) || std::find(ours.begin(), ours.end(), name) != ours.end();
  if (is_interface) service.files.front().netdevs.push_back(std::move(name));
}

// An instance that is not enabled is known by its template alone.
std::optional<BootService> FindService(const PluginInput& input, const std::string& name) {
  const auto* services = Known(input.facts.network.boot_services);
  if (services == nullptr) return std::nullopt;
  const auto find = [&](const std::string& wanted) {
    return std::find_if(services->begin(), services->end(),
                        [&](const BootService& one) { return one.name == wanted; });
  };
  auto found = find(name);
  if (found == services->end()) found = find(NameTemplate(name));
  if (found == services->end()) return std::nullopt;
  BootService service = *found;
  service.name = name;
  AddInstance(input, service);
  return service;
}

std::optional<BootUnit> JudgeUnit(const PluginInput& input, const std::string& name,
                                  const std::vector<std::string>& netdevs) {
  std::optional<BootService> service = FindService(input, name);
  if (!service) return std::nullopt;
  BootUnit unit{.service = std::move(*service)};
  FindOurs(netdevs, unit);
  // The last word counts: what leads to the node comes before all else.
  CheckEnabling(unit);
  if (unit.ours.empty() || !Configures(unit.service)) {
    RefuseUnit("it configures none of this node's ports of the fabric", "remove it from adopt",
               unit);
  }
  CheckWayToNode(FindProtection(input.node, input.facts), unit);
  return unit;
}

void CheckUnitDigest(const AdoptEntry& entry, BootUnit& unit) {
  const std::string digest = ComputeDigest(unit.service);
  if (digest.starts_with(entry.digest) || !unit.why_not.empty()) return;
  RefuseUnit(fmt::format("the SHA-256 of its files begins with {}, and the manifest has {}",
                         digest.substr(0, kShownDigits), entry.digest.substr(0, kShownDigits)),
             fmt::format("read what they say now; to adopt that, write {} into the manifest",
                         digest.substr(0, kShownDigits)),
             unit);
}

// Enabled ones that configure a port of ours.
std::vector<BootUnit> ListFighting(const PluginInput& input) {
  std::vector<BootUnit> found;
  const auto* services = Known(input.facts.network.boot_services);
  if (services == nullptr) return found;
  for (const BootService& service : *services) {
    if (!IsEnabled(service) || !Configures(service)) continue;
    const auto unit = JudgeUnit(input, service.name, ListNetdevs(input));
    if (unit && !unit->ours.empty()) found.push_back(*unit);
  }
  return found;
}

// Not read is not gone.
std::optional<Unknown> FindUnreadServices(const NodeFacts& facts) {
  const auto services = Answer(facts.network.boot_services);
  const auto* unknown = std::get_if<Unknown>(&services);
  return unknown == nullptr ? std::nullopt : std::optional<Unknown>(*unknown);
}

Observed<std::string> DescribeUnit(const PluginInput& input, const BootService* service) {
  if (const auto unknown = FindUnreadServices(input.facts)) return *unknown;
  if (service == nullptr) return Absent{};
  if (service->active == "activating" || service->active == "deactivating") {
    return Unknown{fmt::format("it is {}: neither running nor stopped yet", service->active)};
  }
  return fmt::format("{} {}", IsEnabled(*service) ? "enabled" : "disabled",
                     IsActive(*service) ? "active" : "inactive");
}

std::vector<RunCommand> SetAsBefore(const BootService& service) {
  std::vector<RunCommand> commands;
  if (IsEnabled(service)) commands.push_back(SetEnabled(service.name, true));
  if (IsActive(service)) {
    commands.push_back({.argv = {"sh", "-c", std::string(kStartSh), "sh", service.name},
                        .time_limit_s = kStartLimitS,
                        .at_boot = true});
  }
  return commands;
}

// What it does for others than our ports ends as well: "; it also runs modprobe, sysctl".
std::string FormatOtherWork(const BootService& service) {
  std::set<std::string> programs;
  for (const BootFile& file : service.files) {
    programs.insert(file.also_runs.begin(), file.also_runs.end());
  }
  if (programs.empty()) return {};
  return "; it also runs " + Join({programs.begin(), programs.end()}, ", ");
}

std::string FormatUnitAdoption(const BootUnit& unit) {
  std::vector<std::string> done;
  if (IsActive(unit.service)) done.emplace_back("stopped");
  if (IsEnabled(unit.service)) done.emplace_back("disabled");
  return fmt::format("{}; {} configures {}{}", Join(done, " and "),
                     unit.script.empty() ? "it" : unit.script, Join(unit.ours, ", "),
                     FormatOtherWork(unit.service));
}

// What it runs when it is stopped may take addresses away, so that ours are set again.
void FillUnit(const PluginInput& input, const Intent& intent, const BootUnit& unit,
              Resource& resource) {
  const std::string& name = unit.service.name;
  resource.label = FormatUnitAdoption(unit);
  resource.apply = {SetEnabled(name, false), RunCommand{.argv = {"systemctl", "stop", "--", name},
                                                        .time_limit_s = kStopLimitS}};
  const std::vector<RunCommand> before = SetAsBefore(unit.service);
  for (const RunCommand& command : before) resource.revert.emplace_back(command);
  resource.triggers = ActivateOurs(input, intent);
  // Before what sets the ports back: what it sets then is what they had.
  resource.prune_commands = PruneCommands{.before = before};
  resource.interrupts = ListCutOff(input.facts, intent.ports);
}

Resource MakeAdoptedUnit(const PluginInput& input, const Intent& intent, const AdoptEntry& entry) {
  std::optional<BootUnit> unit = JudgeUnit(input, entry.unit, ListNetdevs(input));
  Resource resource{.kind = std::string(kUnitKind),
                    .name = entry.unit,
                    .node = input.node.name,
                    .observed = AsState(DescribeUnit(input, unit ? &unit->service : nullptr)),
                    .adopts = true,
                    .impact = Impact::kLinkFlap,
                    .blocked = intent.blocked,  // its triggers set all ports again
                    .needs = {fmt::format("{}/file/{}", input.node.name, kOwnFile)},
                    .where = input.cluster.Mark(entry.position)};
  if (!unit) return resource;
  resource.desired = ResourceState("disabled inactive");
  resource.owner = {.name = entry.unit, .claims = unit->ours};
  CheckUnitDigest(entry, *unit);
  if (unit->why_not.empty()) {
    FillUnit(input, intent, *unit, resource);
  } else {
    resource.blocked = {
        .code = "netplan-not-adopted",
        .why = fmt::format("is not adopted: {}: {}", unit->why_not, unit->next_step)};
  }
  return resource;
}

std::string FormatWhen(const BootService& service) {
  const std::string timer = FindTimer(service);
  return timer.empty() ? "at the next boot" : fmt::format("whenever {} starts it", timer);
}

std::string NamePath(const BootService& service) { return "/etc/systemd/system/" + service.name; }

std::string AdviseOnUnit(const PluginInput& input, const BootUnit& unit) {
  if (!unit.why_not.empty()) return unit.next_step;
  const std::string adopt = input.AdviseToAdopt(NamePath(unit.service));
  return fmt::format("{}{}{}, then plan again", adopt,
                     adopt.empty() ? "" : ", or: ", AdviseToDisable(unit));
}

}  // namespace

std::string ComputeDigest(const BootService& service) {
  std::string lines;
  for (const BootFile& file : service.files) {
    lines += fmt::format("{}  {}\n", file.digest, file.path);
  }
  return ComputeSha256Hex(lines);
}

std::vector<Resource> MakeAdoptedUnits(const PluginInput& input, const Intent& intent) {
  std::vector<Resource> resources;
  for (const AdoptEntry& entry : ReadAdoptedUnits(input.cluster, input.node.name)) {
    resources.push_back(MakeAdoptedUnit(input, intent, entry));
  }
  return resources;
}

std::vector<Diagnostic> DiagnoseBootUnits(const PluginInput& input, const Intent&) {
  std::vector<Diagnostic> diagnostics;
  const std::vector<AdoptEntry> entries = ReadAdoptedUnits(input.cluster, input.node.name);
  for (const BootUnit& unit : ListFighting(input)) {
    const std::string& name = unit.service.name;
    const bool named = std::any_of(entries.begin(), entries.end(),
                                   [&](const AdoptEntry& entry) { return entry.unit == name; });
    if (named) continue;
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "netplan-boot-service",
         .message =
             fmt::format("{}{} configures {} again {}", name,
                         unit.script.empty() ? "" : fmt::format(" runs {}, which", unit.script),
                         Join(unit.ours, ", "), FormatWhen(unit.service)),
         .next_step = AdviseOnUnit(input, unit),
         .subject = name});
  }
  return diagnostics;
}

std::vector<AdoptableFile> ListAdoptableUnits(const PluginInput& input) {
  std::vector<AdoptableFile> units;
  for (const BootUnit& unit : ListFighting(input)) {
    if (!unit.why_not.empty()) continue;
    units.push_back(
        {NamePath(unit.service), "unit: " + unit.service.name, ComputeDigest(unit.service), ""});
  }
  return units;
}

std::string ExplainOursStays(const PluginInput& input) {
  const Observed<FileState> observed = FindFile(input.facts, std::string(kOwnFile));
  if (const auto* unknown = std::get_if<Unknown>(&observed)) {
    return "cannot be read: " + unknown->why;
  }
  const FileState* file = Known(observed);
  const Ledger* ledger = Known(input.facts.ledger);
  const LedgerEntry* entry =
      ledger == nullptr ? nullptr : ledger->Find(fmt::format("file/{}", kOwnFile));
  if (file == nullptr || entry == nullptr) return {};
  const bool is_edited = !entry->digest.empty() && entry->digest != ComputeSha256Hex(file->content);
  if (is_edited) return "was edited on the node";
  const bool is_pruned = input.uninstall || ListNetdevs(input).empty();
  if (is_pruned && FindReferenceToOurs(input.facts, file->content)) {
    return "defines a port that another netplan file needs";
  }
  const Protection protection = FindProtection(input.node, input.facts);
  return ExplainProtected(protection, ListNetdevs(input)).empty()
             ? ""
             : "is about an interface that leads to the node";
}

bool IsAdoptedService(const Change& change) { return change.kind == kUnitKind; }

Ownership CheckUnitPrune(const PluginInput& input, Change& change) {
  if (const auto unknown = FindUnreadServices(input.facts)) {
    Block(change, "netplan-boot-service-unknown", "unknown: " + unknown->why);
    return Ownership::kOurs;
  }
  std::optional<BootUnit> unit = JudgeUnit(input, change.name, ListNetdevs(input));
  if (!unit) {
    Block(change, "netplan-boot-service-gone", "is not there any more; nothing is enabled");
    return Ownership::kOthers;
  }
  if (!input.uninstall && !unit->ours.empty()) {
    Block(change, "netplan-adopted-in-use",
          fmt::format("adopt names it no more, but {} configures {} instead of it: name it there "
                      "again; uninstall enables it",
                      kOwnFile, Join(unit->ours, ", ")));
    return Ownership::kOurs;
  }
  unit->why_not.clear();
  CheckWayToNode(FindProtection(input.node, input.facts), *unit);
  if (!unit->why_not.empty()) {
    Block(change, "netplan-leads-to-node", unit->why_not);
  } else if (const std::string why = ExplainOursStays(input); !why.empty()) {
    Block(change, "netplan-adopted-in-use",
          fmt::format("is enabled only when {} is pruned, which {}", kOwnFile, why));
  }
  return Ownership::kOurs;
}

}  // namespace reconciler::plugins::netplan
