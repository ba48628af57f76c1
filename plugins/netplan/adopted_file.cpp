#include "plugins/netplan/adopted_file.h"

#include <fmt/format.h>

#include "plugins/common/ownership/state.h"
#include "plugins/common/ports/links.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/ipv6_off.h"
#include "plugins/netplan/adopt/kept_profile.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopted_profile.h"
#include "plugins/netplan/adopted_unit.h"
#include "plugins/netplan/link_resources.h"
#include "plugins/netplan/reads/rdma_users.h"

namespace reconciler::plugins::netplan {
namespace {

std::vector<std::string> ListNetdevs(const Adoption& adoption) {
  std::vector<std::string> netdevs;
  for (const PortDefinition& port : adoption.ports) netdevs.push_back(port.netdev);
  return netdevs;
}

// networkd does not make it again before it reads its files, and by then none says so.
void DissolveMasters(const PluginInput& input, Renderer renderer, const Adoption& adoption,
                     std::vector<Action>& actions) {
  if (adoption.masters.empty()) return;
  std::vector<std::string> live = adoption.masters;
  std::erase_if(live, [&](const std::string& one) { return FindLink(input, one) == nullptr; });
  const RunCommand remove = RemoveGeneratedMasters(renderer, adoption.masters);
  switch (renderer) {
    case Renderer::kNetworkd:
      actions.emplace_back(remove);
      for (const std::string& master : live) actions.emplace_back(Dissolve(master));
      break;
    case Renderer::kNetworkManager:
      for (const std::string& master : live) actions.emplace_back(TakeDown(master));
      actions.emplace_back(remove);
      for (const std::string& master : live) actions.emplace_back(DropMaster(master));
      break;
  }
}

std::vector<Action> LetGo(const PluginInput& input, const Intent& intent,
                          const Adoption& adoption) {
  std::vector<Action> actions;
  DissolveMasters(input, intent.tree.renderer, adoption, actions);
  if (adoption.others.empty()) return actions;
  if (intent.tree.renderer == Renderer::kNetworkManager) {
    for (const std::string& netdev : adoption.others) actions.emplace_back(TakeDown(netdev));
  }
  actions.emplace_back(RemoveGenerated(intent.tree.renderer, adoption.others));
  return actions;
}

// Ours follow our file; the others are as after a restart.
std::vector<RunCommand> ListTriggers(const PluginInput& input, const Intent& intent,
                                     const Adoption& adoption) {
  std::vector<RunCommand> triggers = ActivateOurs(input, intent);
  if (!adoption.others.empty()) triggers.push_back(ReloadFiles(intent.tree.renderer));
  for (const std::string& netdev : adoption.others) {
    if (FindLink(input, netdev) == nullptr) continue;
    for (RunCommand& command : SetUnconfigured(intent.tree.renderer, netdev)) {
      triggers.push_back(std::move(command));
    }
  }
  return triggers;
}

std::vector<Action> ListRevert(const PluginInput& input, const Intent& intent,
                               const Adoption& adoption) {
  std::vector<Action> revert;
  if (!adoption.masters.empty()) {
    // networkd makes a bond or bridge when it reads its files, and puts each port into it again;
    // NetworkManager makes it with its first member.
    revert.emplace_back(ReloadFiles(intent.tree.renderer));
    for (const std::string& netdev : adoption.ours) {
      if (FindLink(input, netdev) == nullptr) continue;
      revert.emplace_back(Reconfigure(intent.tree.renderer, netdev));
    }
  }
  for (const std::string& netdev : adoption.others) {
    const LinkFact* link = FindLink(input, netdev);
    if (link == nullptr || link->mtu == 0) continue;
    if (CanReconfigure(link, intent.tree.renderer)) {
      revert.emplace_back(Reconfigure(intent.tree.renderer, netdev));
    }
    for (RunCommand& command : MakeLinkRevertCommands(input.facts, netdev, *link)) {
      revert.emplace_back(std::move(command));
    }
  }
  return revert;
}

std::string ListEnded(const PluginInput& input, const Adoption& adoption) {
  std::vector<RailPort> ports;
  for (const PortDefinition& port : adoption.ports) ports.push_back({.netdev = port.netdev});
  return ListCutOff(input.facts, ports);
}

void FillFile(const PluginInput& input, const Intent& intent, const Adoption& adoption,
              Resource& resource) {
  resource.trial = MakeTrial(NameTrial(adoption.entry.path));
  resource.label = FormatAdoption(adoption, intent.ports);
  resource.apply = LetGo(input, intent, adoption);
  resource.revert = ListRevert(input, intent, adoption);
  resource.triggers = ListTriggers(input, intent, adoption);
  resource.prune_commands =
      PruneCommands{.after = ActivateAgain(intent.tree.renderer, intent.tree.files,
                                           ListNetdevs(adoption), adoption.masters)};
}

// The kernel settings by which its profile turns IPv6 off: NetworkManager turns it on again where
// another profile, as ours, does not say so.
std::vector<std::string> ListIpv6Disabled(const PluginInput& input, const Adoption& adoption) {
  const FileState file = *Known(FindFile(input.facts, adoption.entry.path));
  const auto held = ReadHeldProfile(adoption.entry.path, file.content);
  if (!held || !held->says.disables_ipv6) return {};
  std::vector<std::string> keys;
  for (const std::string& netdev : adoption.ours) keys.push_back(NameIpv6Switch(netdev));
  return keys;
}

// Without a trial: a file that hides a keyfile must be a profile itself. The journal restores it,
// at boot before NetworkManager starts. NetworkManager reads nothing before it is reloaded, and by
// then our profile is active.
void FillProfile(const PluginInput& input, const Intent& intent, const Adoption& adoption,
                 Resource& resource) {
  resource.label =
      fmt::format("profile {} {}", adoption.entry.profile, FormatAdoption(adoption, intent.ports));
  resource.revert = RevertToProfile(input, adoption);
  resource.triggers = ActivateOurs(input, intent);
  resource.triggers.push_back(ReloadFiles(Renderer::kNetworkManager));
  resource.settles = ListIpv6Disabled(input, adoption);
  // Which ports it gets again shows when it is pruned.
  resource.prune_commands = PruneCommands{.after = {ReloadFiles(Renderer::kNetworkManager)}};
}

// With the trial of a netplan file, and what netplan made of it goes as well.
void FillKeptProfile(const PluginInput& input, const Intent& intent, const Adoption& adoption,
                     Resource& resource) {
  FillProfile(input, intent, adoption, resource);
  const FileState file = *Known(FindFile(input.facts, adoption.entry.path));
  const auto held = ReadHeldProfile(adoption.entry.path, file.content);
  if (!held) return;
  resource.trial = MakeTrial(NameTrial(adoption.entry.path));
  resource.apply = {RemoveGenerated(Renderer::kNetworkManager, {held->definition.key})};
  resource.prune_commands = PruneCommands{.after = BringBackProfile(input.facts, *held)};
}

// Without a trial: of files of one name networkd reads the one in /etc before one in /run, and a
// file that sorts before it would make each port flap once more after the commit. The journal
// restores it, at boot before networkd starts.
void FillUnit(const PluginInput& input, const Intent& intent, const Adoption& adoption,
              Resource& resource) {
  resource.label = "unit " + FormatAdoption(adoption, intent.ports);
  resource.revert = RevertToUnit(input, adoption);
  resource.triggers = ActivateOurs(input, intent);
  // Which ports it gets again shows when it is pruned.
  resource.prune_commands = PruneCommands{.after = {ReloadFiles(Renderer::kNetworkd)}};
}

void Fill(const PluginInput& input, const Intent& intent, const Adoption& adoption,
          Resource& resource) {
  switch (GetKind(adoption.entry)) {
    case AdoptKind::kFile:
      FillFile(input, intent, adoption, resource);
      break;
    case AdoptKind::kProfile:
      FillProfile(input, intent, adoption, resource);
      break;
    case AdoptKind::kKeptProfile:
      FillKeptProfile(input, intent, adoption, resource);
      break;
    case AdoptKind::kUnit:
      FillUnit(input, intent, adoption, resource);
      break;
  }
}

Resource MakeAdoptedFile(const PluginInput& input, const Intent& intent, const Adoption& adoption) {
  const std::string& path = adoption.entry.path;
  Resource resource{.kind = "file",
                    .name = path,
                    .node = input.node.name,
                    .observed = AsState(FindFile(input.facts, path)),
                    .adopts = true,
                    .impact = Impact::kLinkFlap,
                    .blocked = intent.blocked,
                    .where = input.cluster.Mark(adoption.entry.position)};
  if (!adoption.is_there) return resource;
  resource.owner = NameOwner(adoption);
  if (!adoption.why_not.empty()) {
    resource.blocked = {
        .code = "netplan-not-adopted",
        .why = fmt::format("is not adopted: {}: {}", adoption.why_not, adoption.next_step)};
    return resource;
  }
  Fill(input, intent, adoption, resource);
  resource.interrupts = ListEnded(input, adoption);
  resource.needs = {fmt::format("{}/file/{}", input.node.name, kOwnFile)};
  return resource;
}

}  // namespace

std::vector<Resource> MakeAdoptedFiles(const PluginInput& input, const Intent& intent) {
  std::vector<Resource> resources;
  for (const Adoption& adoption : intent.adoptions) {
    resources.push_back(MakeAdoptedFile(input, intent, adoption));
  }
  return resources;
}

}  // namespace reconciler::plugins::netplan
