#include "plugins/netplan/prune_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "plugins/common/ports/links.h"
#include "plugins/common/protection/protection.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/definitions.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/port_owner.h"
#include "plugins/netplan/adopt/references.h"
#include "plugins/netplan/adopted_profile.h"
#include "plugins/netplan/adopted_unit.h"
#include "plugins/netplan/boot_unit.h"
#include "plugins/netplan/intent.h"
#include "plugins/netplan/live_master.h"
#include "plugins/netplan/reads/rdma_users.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

// The ports that a change prunes, by who has them besides us.
struct Ports {
  std::vector<std::string> all = {};
  std::vector<std::string> rest = {};        // of the node: not in this change
  std::vector<std::string> by_netplan = {};  // of another netplan file
  std::vector<std::string> by_others = {};   // of these, and of units and profiles
  std::string owner = {};                    // of the last one of them
  std::string unclear = {};                  // not empty: why no owner can be named
};

// Of a link its own; of our netplan file those that it defines.
std::set<std::string> ListPruned(const Change& change) {
  if (change.kind == kLinkKind) return {change.name};
  std::set<std::string> netdevs;
  const auto text =
      change.before ? ReadDefinitions(change.before->content, change.name) : std::nullopt;
  for (const PortDefinition& port : text ? text->ports : std::vector<PortDefinition>()) {
    netdevs.insert(port.netdev);
  }
  return netdevs;
}

// Only ports of the fabric were ever ours.
Ports FindPorts(const NodeFacts& facts, const Change& change) {
  Ports ports;
  const std::set<std::string> pruned = ListPruned(change);
  for (const auto& [netdev, link] : facts.links) {
    if (!pruned.contains(netdev)) {
      ports.rest.push_back(netdev);
      continue;
    }
    ports.all.push_back(netdev);
    const PortOwner owner = FindForeignOwner(facts, netdev);
    if (!owner.unclear.empty()) ports.unclear = owner.unclear;
    if (owner.path.empty()) continue;
    ports.owner = owner.path;
    ports.by_others.push_back(netdev);
    if (owner.by_netplan) ports.by_netplan.push_back(netdev);
  }
  return ports;
}

std::string ListCutOffAt(const NodeFacts& facts, const std::vector<std::string>& netdevs) {
  std::vector<RailPort> ports;
  for (const std::string& netdev : netdevs) ports.push_back({.netdev = netdev});
  return ListCutOff(facts, ports);
}

// Ledgers of earlier versions have the removal behind a reload that other entries share, so that
// the reload came before it.
void RemoveBeforeReload(Change& change) {
  std::vector<Action> removals;
  for (const RunCommand& command : change.triggers) {
    if (!command.makes.empty()) removals.emplace_back(command);
  }
  std::erase_if(change.triggers, [](const RunCommand& one) { return !one.makes.empty(); });
  change.actions.insert(change.actions.begin(), removals.begin(), removals.end());
}

// What netplan generates for these ports is made of the other owner's file, too.
void LeaveInActions(const std::vector<std::string>& netdevs, Change& change) {
  std::vector<Action> rest;
  for (Action& action : change.actions) {
    auto* command = std::get_if<RunCommand>(&action);
    const bool removes = command != nullptr && !command->makes.empty();
    if (removes) LeaveGenerated(netdevs, *command);
    if (!removes || !command->makes.empty()) rest.push_back(std::move(action));
  }
  change.actions = std::move(rest);
}

bool RemovesGenerated(const Change& change) {
  return std::any_of(change.actions.begin(), change.actions.end(), [](const Action& action) {
    const auto* command = std::get_if<RunCommand>(&action);
    return command != nullptr && !command->makes.empty();
  });
}

// A revert must not bring up what of ours was not taken down.
void LeaveInRevert(const std::vector<std::string>& netdevs, Change& change) {
  std::erase_if(change.revert, [&](const Action& action) {
    const auto* command = std::get_if<RunCommand>(&action);
    if (command == nullptr) return false;
    return !command->makes.empty() ||  // the journal restores these files
           std::any_of(netdevs.begin(), netdevs.end(), [&](const std::string& netdev) {
             return command->id == NameReconfigure(netdev);
           });
  });
}

Ownership CheckLink(const Ports& ports, Change& change) {
  if (!ports.by_netplan.empty()) {
    Block(change, "netplan-port-claimed",
          fmt::format("now configured by {}; left as it is", ports.owner));
    change.owner = {.name = ports.owner, .claims = {change.name}};
    return Ownership::kOthers;
  }
  if (ports.by_others.empty()) return Ownership::kOurs;
  // What remains is the reload. The values are the other owner's.
  std::erase_if(change.triggers, [](const RunCommand& one) { return one.id.empty(); });
  LeaveInRevert(ports.by_others, change);
  change.detail =
      fmt::format("what was generated for it is removed; its values are left to {}", ports.owner);
  return Ownership::kOurs;
}

// The ledger's removal is that of the first text of the file. What it names besides has gone from
// the file since, with an entry of its own, and may be another owner's by now.
void CheckFile(const Ports& ports, Change& change) {
  LeaveInActions(ports.rest, change);
  if (ports.by_others.empty()) return;
  LeaveInActions(ports.by_netplan, change);
  LeaveInRevert(ports.by_others, change);
  // The managers read nothing of ours any more.
  if (!RemovesGenerated(change)) change.triggers.clear();
}

bool IsAdoptedFile(const Change& change) {
  return change.kind != kLinkKind && change.name.starts_with("/etc/netplan/") &&
         change.name != kOwnFile;
}

bool IsAdoptedProfile(const Change& change) {
  return change.kind != kLinkKind && change.name.starts_with(kKeyfiles);
}

bool IsAdoptedUnit(const Change& change) {
  return change.kind != kLinkKind && change.name.starts_with(kUnits);
}

// The file that comes again; nullptr: none does.
const WriteFile* FindOriginal(const Change& change) {
  const Action* file = FindFileAction(change.actions);
  return file == nullptr ? nullptr : std::get_if<WriteFile>(file);
}

// The profile that comes again with it.
std::optional<HeldProfile> FindProfile(const Change& change) {
  const WriteFile* write = FindOriginal(change);
  if (write == nullptr || IsAdoptedUnit(change)) return std::nullopt;
  return ReadHeldProfile(write->path, write->state.content);
}

// What it says of ports.
std::vector<std::string> ListPortsOfOriginal(const PluginInput& input, const Change& change) {
  std::vector<std::string> netdevs;
  const WriteFile* write = FindOriginal(change);
  if (write == nullptr) return netdevs;
  if (const auto profile = FindProfile(change)) return ListPortsOfProfile(input, *profile);
  if (IsAdoptedUnit(change)) return ListPortsOfUnit(input, write->state.content);
  const auto text = ReadDefinitions(write->state.content, write->path);
  for (const PortDefinition& port : text ? text->ports : std::vector<PortDefinition>()) {
    netdevs.push_back(port.netdev);
  }
  return netdevs;
}

// The bonds and bridges that it makes of them.
std::vector<std::string> ListMastersOfOriginal(const Change& change) {
  std::vector<std::string> masters;
  const WriteFile* write = FindOriginal(change);
  if (write == nullptr) return masters;
  const auto text = ReadDefinitions(write->state.content, write->path);
  for (const MasterDefinition& one : text ? text->masters : std::vector<MasterDefinition>()) {
    masters.push_back(one.name);
  }
  return masters;
}

// The ledger has the files of netplan as they were then.
void BringToEffect(const PluginInput& input, const std::vector<std::string>& netdevs,
                   Change& change) {
  if (const auto profile = FindProfile(change)) {
    change.triggers = BringBackProfile(input.facts, *profile);
    return;
  }
  if (const WriteFile* write = FindOriginal(change); write && IsAdoptedUnit(change)) {
    change.triggers = ActivateUnit(input, write->state.content);
    return;
  }
  const ForeignTree tree = ReadForeignTree(input.facts, netdevs);
  if (tree.unclear.empty()) {
    change.triggers =
        ActivateAgain(tree.renderer, tree.files, netdevs, ListMastersOfOriginal(change));
  }
}

// Our file and this one would both configure the port.
std::string FindPortOfBoth(const PluginInput& input, const std::vector<std::string>& netdevs) {
  std::vector<std::string> ours;
  for (const RailPort& port : GetPorts(input.fabric, input.node.name)) ours.push_back(port.netdev);
  for (const std::string& netdev : ListDownNetdevs(input)) ours.push_back(netdev);
  const auto both = std::find_first_of(netdevs.begin(), netdevs.end(), ours.begin(), ours.end());
  return both == netdevs.end() ? "" : *both;
}

// A bond or bridge that it makes may be another one by now, which leads to the node.
std::string ExplainLeading(const PluginInput& input, const std::vector<std::string>& netdevs,
                           const Change& change) {
  std::vector<std::string> all = ListMastersOfOriginal(change);
  all.insert(all.end(), netdevs.begin(), netdevs.end());
  return ExplainProtected(FindProtection(input.node, input.facts), all);
}

Ownership CheckAdoptedPrune(const PluginInput& input, Change& change) {
  const std::vector<std::string> netdevs = ListPortsOfOriginal(input, change);
  const std::string why = ExplainLeading(input, netdevs, change);
  if (!why.empty()) {
    Block(change, "netplan-leads-to-node", why);
    return Ownership::kOurs;
  }
  const std::string both = input.uninstall ? "" : FindPortOfBoth(input, netdevs);
  if (!both.empty()) {
    Block(change, "netplan-adopted-in-use",
          fmt::format("adopt names it no more, but {} configures {} instead of it: name it there "
                      "again; uninstall writes it back",
                      kOwnFile, both));
    return Ownership::kOurs;
  }
  BringToEffect(input, netdevs, change);
  change.interrupts = ListCutOffAt(input.facts, netdevs);
  return Ownership::kOurs;
}

// Another owner has what it was made of by now.
Ownership CheckMembers(const PluginInput& input, const std::vector<std::string>& members,
                       Change& change) {
  for (const std::string& member : members) {
    const PortOwner owner = FindForeignOwner(input.facts, member);
    if (owner.path.empty()) continue;
    Block(change, "netplan-port-claimed",
          fmt::format("is not made again: its member {} is now configured by {}", member,
                      owner.path));
    change.owner = {.name = owner.path, .claims = {member}};
    return Ownership::kOthers;
  }
  return Ownership::kOurs;
}

// Ours would configure its members as well.
void CheckOursGoes(const PluginInput& input, const std::vector<std::string>& members,
                   Change& change) {
  const std::string both = input.uninstall ? "" : FindPortOfBoth(input, members);
  const std::string stays = ExplainOursStays(input);
  if (!both.empty()) {
    Block(change, "netplan-adopted-in-use",
          fmt::format("adopt names it no more, but {} configures its member {}: name it there "
                      "again; uninstall makes it again",
                      kOwnFile, both));
  } else if (!stays.empty()) {
    Block(change, "netplan-adopted-in-use",
          fmt::format("is made again only when {} is pruned, which {}", kOwnFile, stays));
  }
}

Ownership CheckMasterPrune(const PluginInput& input, Change& change) {
  const std::vector<std::string> members = ListMembersOf(change);
  std::vector<std::string> netdevs = members;
  netdevs.push_back(change.name);
  const std::string why = ExplainProtected(FindProtection(input.node, input.facts), netdevs);
  if (!why.empty()) {
    Block(change, "netplan-leads-to-node", why);
    return Ownership::kOurs;
  }
  if (FindLink(input, change.name) != nullptr) {
    Block(change, "netplan-master-made-again", "is there again, and left as it is");
    return Ownership::kOthers;
  }
  if (CheckMembers(input, members, change) == Ownership::kOthers) return Ownership::kOthers;
  change.detail =
      fmt::format("made again of {}, live: a restart does not bring it", Join(members, ", "));
  change.interrupts = ListCutOffAt(input.facts, members);
  CheckOursGoes(input, members, change);
  return Ownership::kOurs;
}

// Ledgers of earlier versions have no generator, and let netplan reload systemd's units.
void BringUpToDate(Change& change) {
  for (RunCommand& trigger : change.triggers) {
    std::vector<std::string>& argv = trigger.argv;
    if (argv.size() < 2 || argv[0] != "netplan" || argv[1] != "generate") continue;
    argv.insert(argv.begin(), {"env", "SYSTEMD_OFFLINE=1"});
    trigger.without_reload = true;
  }
  for (Action& action : change.actions) {
    const Trial trial = GetTrial(action);
    if (!trial.path.starts_with("/run/netplan/") || !trial.generator.empty()) continue;
    if (auto* write = std::get_if<WriteFile>(&action)) write->trial = MakeTrial(trial.path);
    if (auto* remove = std::get_if<RemoveFile>(&action)) remove->trial = MakeTrial(trial.path);
  }
}

// The ports that are ours, by the manifest or by the ledger.
std::set<std::string> ListOurPorts(const PluginInput& input) {
  std::set<std::string> netdevs;
  for (const RailPort& port : GetPorts(input.fabric, input.node.name)) netdevs.insert(port.netdev);
  const Ledger* ledger = Known(input.facts.ledger);
  for (const LedgerEntry& entry : ledger ? ledger->entries : std::vector<LedgerEntry>()) {
    if (entry.is_link) netdevs.insert(entry.name);
  }
  return netdevs;
}

// Whose our ports are now. Where they have no manager, or two, netplan's files decide, which are
// read only where the manifest has ports. nullopt: it cannot be determined.
std::optional<Renderer> FindRendererNow(const PluginInput& input) {
  std::set<LinkManager> managers;
  for (const std::string& netdev : ListOurPorts(input)) {
    if (const LinkFact* link = FindLink(input, netdev)) managers.insert(link->manager);
  }
  managers.erase(LinkManager::kNone);
  if (managers == std::set{LinkManager::kNetworkd}) return Renderer::kNetworkd;
  if (managers == std::set{LinkManager::kNetworkManager}) return Renderer::kNetworkManager;
  if (GetPorts(input.fabric, input.node.name).empty()) return std::nullopt;
  const ForeignTree tree = ReadForeignTree(input.facts, {});
  return tree.unclear.empty() ? std::optional(tree.renderer) : std::nullopt;
}

// The ledger has the commands for the manager that had the ports when they were set up first.
// Another one that has them now must read its files again, without what was generated for it,
// and a revert has it bring up what it has taken down.
void FollowRenderer(const PluginInput& input, const std::vector<std::string>& netdevs,
                    Change& change) {
  const std::optional<Renderer> renderer = FindRendererNow(input);
  if (!renderer) return;
  const RunCommand now = ReloadFiles(*renderer);
  const auto reload = std::find_if(change.triggers.begin(), change.triggers.end(),
                                   [&](const RunCommand& trigger) { return trigger.id == now.id; });
  if (reload == change.triggers.end() || reload->argv == now.argv) return;
  *reload = now;
  std::vector<Action> removal;
  if (*renderer == Renderer::kNetworkManager && change.kind == kLinkKind) {
    removal.emplace_back(TakeDown(change.name));
    change.revert.emplace_back(BringUp(*renderer, change.name));
  }
  if (!netdevs.empty()) removal.emplace_back(RemoveGenerated(*renderer, netdevs));
  change.actions.insert(change.actions.begin(), removal.begin(), removal.end());
}

// A port is not taken down while what replaces it cannot be written. Empty: it can, or the manifest
// has no port there.
Obstacle FindObstacleOfRest(const PluginInput& input) {
  if (input.uninstall || GetPorts(input.fabric, input.node.name).empty()) return {};
  return BuildIntent(input).blocked;
}

// Our file stays then, and in an uninstall what is set up with it: it is still in use.
std::optional<DanglingReference> FindNeeded(const PluginInput& input, const Change& change) {
  if (change.name == kOwnFile) {
    return change.before ? FindReferenceToOurs(input.facts, change.before->content) : std::nullopt;
  }
  if (!input.uninstall) return std::nullopt;
  const Observed<FileState> observed = FindFile(input.facts, std::string(kOwnFile));
  const FileState* file = Known(observed);
  return file == nullptr ? std::nullopt : FindReferenceToOurs(input.facts, file->content);
}

}  // namespace

const WriteFile* FindFileComingBack(const PluginInput& input, const LedgerEntry& entry) {
  Change change{.kind = entry.kind, .name = entry.name, .actions = entry.original};
  if (!IsAdoptedFile(change)) return nullptr;
  // Its owner has made it again, and it is left to him.
  if (Known(FindFile(input.facts, entry.name)) != nullptr) return nullptr;
  CheckAdoptedPrune(input, change);
  if (change.change == ChangeKind::kBlocked) return nullptr;
  const Action* file = FindFileAction(entry.original);
  return file == nullptr ? nullptr : std::get_if<WriteFile>(file);
}

Ownership CheckPrune(const PluginInput& input, Change& change) {
  BringUpToDate(change);
  if (IsAdoptedService(change)) return CheckUnitPrune(input, change);
  if (IsLiveMaster(change)) return CheckMasterPrune(input, change);
  if (IsAdoptedFile(change) || IsAdoptedProfile(change) || IsAdoptedUnit(change)) {
    return CheckAdoptedPrune(input, change);
  }
  // Before it counts whether the ports are there: netplan refuses the files in any case.
  if (const auto needed = FindNeeded(input, change)) {
    Block(change, "netplan-port-needed", needed->Explain());
    return Ownership::kOurs;
  }
  const Ports ports = FindPorts(input.facts, change);
  FollowRenderer(input, ports.all, change);
  if (ports.all.empty()) return Ownership::kOurs;
  const std::string why = ExplainProtected(FindProtection(input.node, input.facts), ports.all);
  if (!why.empty()) {
    Block(change, "netplan-leads-to-node", why);
    return Ownership::kOurs;
  }
  if (!ports.unclear.empty()) {
    Block(change, "netplan-owner-unknown", ports.unclear);
    return Ownership::kOurs;
  }
  RemoveBeforeReload(change);
  change.interrupts = ListCutOffAt(input.facts, ports.all);
  if (change.kind == kLinkKind) {
    if (const Obstacle rest = FindObstacleOfRest(input); !rest.empty()) {
      Block(change, rest.code, "the fabric's other ports are blocked: " + rest.why);
      return Ownership::kOurs;
    }
    // A file that stays as it is still defines the port: with it the port stays too.
    change.needs = {fmt::format("{}/file/{}", input.node.name, kOwnFile)};
    return CheckLink(ports, change);
  }
  CheckFile(ports, change);
  return Ownership::kOurs;
}

}  // namespace reconciler::plugins::netplan
