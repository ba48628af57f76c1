#include "plugins/netplan/intent.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plugins/common/ownership/owned.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/claims.h"
#include "plugins/netplan/adopt/definitions.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/references.h"
#include "plugins/netplan/missing_port.h"
#include "plugins/netplan/prune_check.h"
#include "plugins/netplan/reads/routes.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

bool IsAmong(const std::string& netdev, const std::vector<std::string>& netdevs) {
  return std::find(netdevs.begin(), netdevs.end(), netdev) != netdevs.end();
}

// A renderer that a netplan file says of this port alone, or of its device type: ours has none of
// its own, and would move the port. Empty: none does.
std::string ExplainOwnRenderer(const PluginInput& input, const Intent& intent,
                               const std::string& netdev, std::string_view renderer) {
  for (const Claim& claim : intent.tree.claims) {
    const Observed<FileState> file = FindFile(input.facts, claim.path);
    if (claim.kind != ClaimKind::kNetplan || Known(file) == nullptr) continue;
    const auto text = ReadDefinitions(Known(file)->content, claim.path);
    for (const PortDefinition& port : text ? text->ports : std::vector<PortDefinition>()) {
      if (port.netdev != netdev || port.renderer != renderer) continue;
      return fmt::format(
          "{} says 'renderer: {}' of {}: take that out of it, then `netplan apply` "
          "or a restart of the node",
          claim.path, renderer, port.renderer_of);
    }
  }
  return {};
}

std::string ExplainManagedByNetworkManager(const PluginInput& input, const Intent& intent,
                                           const std::string& netdev) {
  const std::string own = ExplainOwnRenderer(input, intent, netdev, "NetworkManager");
  if (!own.empty()) {
    return fmt::format("NetworkManager manages {}, and {} gives the port to networkd", netdev, own);
  }
  if (MovesWayToNode(input.facts, intent.protection, Renderer::kNetworkManager)) {
    return fmt::format(
        "NetworkManager manages {}, and netplan gives it to networkd: run `netplan apply` where a "
        "netplan file names the port, or list it in unmanaged-devices of NetworkManager",
        netdev);
  }
  return fmt::format(
      "NetworkManager manages {}, but no netplan file says 'renderer: NetworkManager': write that "
      "into one, or list the port in unmanaged-devices of NetworkManager",
      netdev);
}

std::string ExplainManagedByNetworkd(const PluginInput& input, const Intent& intent,
                                     const std::string& netdev) {
  const std::string own = ExplainOwnRenderer(input, intent, netdev, "networkd");
  if (!own.empty()) {
    return fmt::format("systemd-networkd manages {}, and {} gives the port to NetworkManager",
                       netdev, own);
  }
  return fmt::format(
      "systemd-networkd manages {}, but netplan would give it to NetworkManager: `netplan apply` "
      "or "
      "a restart of the node does so",
      netdev);
}

// One port that two programs configure loses its addresses to whichever comes last.
std::string ExplainTwoManagers(const PluginInput& input, const Intent& intent) {
  for (const RailPort& port : intent.ports) {
    const auto link = input.facts.links.find(port.netdev);
    if (link == input.facts.links.end()) continue;
    const LinkManager manager = link->second.manager;
    if (manager == LinkManager::kNetworkManager && intent.tree.renderer == Renderer::kNetworkd) {
      return ExplainManagedByNetworkManager(input, intent, port.netdev);
    }
    if (manager == LinkManager::kNetworkd && intent.tree.renderer == Renderer::kNetworkManager) {
      return ExplainManagedByNetworkd(input, intent, port.netdev);
    }
  }
  return {};
}

bool ManagesAny(const NodeFacts& facts, LinkManager manager) {
  return std::any_of(facts.links.begin(), facts.links.end(),
                     [manager](const auto& one) { return one.second.manager == manager; });
}

// NetworkManager activates no profile on a port that it leaves alone. A port without a carrier has
// no manager before it is plugged in, and a member of a bridge is the bridge's.
std::string ExplainUnmanaged(const PluginInput& input, const Intent& intent) {
  if (intent.tree.renderer != Renderer::kNetworkManager) return {};
  for (const RailPort& port : intent.ports) {
    const LinkFact* link = FindLink(input, port.netdev);
    if (link == nullptr || link->manager != LinkManager::kNone) continue;
    if (!link->admin_up || !link->carrier || !link->master.empty()) continue;
    if (!ManagesAny(input.facts, LinkManager::kNetworkManager)) {
      return fmt::format(
          "NetworkManager manages no interface of this node, and netplan gives {} to it: see "
          "whether it runs with systemctl status NetworkManager",
          port.netdev);
    }
    return fmt::format(
        "NetworkManager leaves {0} alone, and netplan gives it to NetworkManager: take it out of "
        "unmanaged-devices in /etc/NetworkManager, or run: nmcli device set {0} managed yes",
        port.netdev);
  }
  return {};
}

// The bonds and bridges that an apply deletes.
Masters ListGone(const Intent& intent) {
  Masters gone = ListDissolved(intent.adoptions);
  gone.merge(ListAdopted(intent.masters));
  return gone;
}

// The ports that an earlier apply set up. Those that the manifest no longer has are pruned.
std::vector<std::string> ListAppliedLinks(const NodeFacts& facts) {
  std::vector<std::string> netdevs;
  const Ledger* ledger = Known(facts.ledger);
  if (ledger == nullptr) return netdevs;
  for (const LedgerEntry& entry : ledger->entries) {
    if (entry.is_link) netdevs.push_back(entry.name);
  }
  return netdevs;
}

// A route over a port that this apply puts in order is none elsewhere: one of a cage with or
// without a cable, or one that was set up before. The other twin of a port keeps what others gave
// it, and must not be in the same subnet.
std::string ExplainOverlapping(const PluginInput& input, const Intent& intent) {
  std::vector<std::string> cages = ListAppliedLinks(input.facts);
  std::vector<Ipv4Prefix> subnets;
  for (const RailPort& port : intent.ports) {
    cages.push_back(port.netdev);
    subnets.push_back(port.address.Network());
  }
  for (const std::string& master : ListGone(intent)) cages.push_back(master);
  const auto unused = input.fabric.unused_netdevs.find(input.node.name);
  if (unused != input.fabric.unused_netdevs.end()) {
    cages.insert(cages.end(), unused->second.begin(), unused->second.end());
  }
  const std::vector<std::string> twins = ListCageNetdevs(input);
  return ExplainRoutedElsewhere(subnets, cages, {twins.begin(), twins.end()}, input.facts);
}

// The netdevs that our file makes netplan write something for.
std::vector<std::string> ListGenerated(const Intent& intent) {
  std::vector<std::string> ours;
  for (const RailPort& port : intent.ports) ours.push_back(port.netdev);
  if (intent.tree.renderer == Renderer::kNetworkd) {
    ours.insert(ours.end(), intent.down.begin(), intent.down.end());
  }
  return ours;
}

// Of the files that `adopt` names no more, and that the same apply writes again.
void AddDefinedByReturning(const PluginInput& input, const std::vector<Adoption>& adoptions,
                           std::set<std::string>& defined) {
  const Ledger* ledger = Known(input.facts.ledger);
  if (ledger == nullptr) return;
  for (const LedgerEntry& entry : ledger->entries) {
    const bool is_named = std::any_of(adoptions.begin(), adoptions.end(), [&](const Adoption& one) {
      return one.entry.path == entry.name;
    });
    const WriteFile* file = is_named ? nullptr : FindFileComingBack(input, entry);
    if (file != nullptr) defined.merge(ListDefined(file->state.content, file->path));
  }
}

// Our file loses a port that another netplan file needs: netplan would refuse all files.
std::string ExplainStillNeeded(const PluginInput& input, const Intent& intent) {
  const std::vector<std::string> ours = ListGenerated(intent);
  std::set<std::string> defined(ours.begin(), ours.end());
  AddDefinedByReturning(input, intent.adoptions, defined);
  const auto needed = FindReferenceToLost(input.facts, defined, ListAdopted(intent.adoptions));
  if (!needed) return {};
  return IsAmong(needed->netdev, intent.down) ? needed->ExplainDown() : needed->Explain();
}

// What is in the way of every port, whoever else claims some of them.
Obstacle FindObstacleOfAll(const PluginInput& input, const std::vector<std::string>& netdevs,
                           const Intent& intent) {
  std::vector<Obstacle> obstacles = {
      {.code = "netplan-leads-to-node", .why = ExplainProtected(intent.protection, netdevs)},
      {.code = "netplan-files-unknown", .why = intent.tree.unclear},
      {.code = "netplan-two-managers", .why = ExplainTwoManagers(input, intent)},
      FindNoPorts(input, intent),
      {.code = "netplan-port-unmanaged", .why = ExplainUnmanaged(input, intent)},
      {.code = "netplan-subnet-routed", .why = ExplainOverlapping(input, intent)},
      {.code = "netplan-port-needed", .why = ExplainStillNeeded(input, intent)},
      {.code = "netplan-owner-unknown", .why = intent.owner_unclear}};
  for (Obstacle& obstacle : obstacles) {
    if (!obstacle.empty()) return std::move(obstacle);
  }
  return {};
}

void FindObstacles(const PluginInput& input, const std::vector<std::string>& netdevs,
                   Intent& intent) {
  intent.blocked = FindObstacleOfAll(input, netdevs, intent);
  intent.link_blocked = intent.blocked;
  if (intent.blocked.empty() && !intent.claims.empty()) {
    const Claim& claim = intent.claims.front();
    const Diagnostic why = DiagnoseClaim(claim, intent.protection);
    intent.blocked = {why.code, fmt::format("{}: {}", why.message, why.next_step)};
  }
  if (!intent.blocked.empty()) return;
  intent.blocked = FindFileObstacle(input.facts, std::string(kOwnFile), input.cluster.name);
  intent.link_blocked = intent.blocked;
  // NetworkManager would set up again what it does not let go of.
  if (intent.tree.renderer == Renderer::kNetworkManager && !intent.down.empty()) {
    intent.down_blocked =
        FindFileObstacle(input.facts, std::string(kUnmanagedFile), input.cluster.name);
  }
}

// What the manager that gets our file reads besides it.
void AddManagerClaims(const NodeFacts& facts, Intent& intent) {
  ForeignTree others =
      FindManagerClaims(facts, intent.tree.renderer, ListGenerated(intent),
                        intent.protection.Netdevs(), ListAdopted(intent.adoptions));
  intent.owner_unclear = others.unclear;
  for (Claim& claim : others.claims) intent.claims.push_back(std::move(claim));
}

// A netplan file that makes a bond or bridge of ports is a claim on them already.
void AddMasterClaims(const NodeFacts& facts, std::vector<std::string> netdevs, Intent& intent) {
  for (const Claim& claim : intent.tree.claims) {
    std::erase_if(netdevs, [&](const std::string& one) { return IsAmong(one, claim.netdevs); });
  }
  const Masters dissolved = ListGone(intent);
  for (Claim& claim : FindMasterClaims(facts, netdevs, intent.protection.Netdevs())) {
    if (dissolved.contains(claim.path)) continue;
    intent.claims.push_back(std::move(claim));
  }
}

}  // namespace

Obstacle FindLinkObstacle(const Intent& intent, const std::string& netdev) {
  if (!intent.link_blocked.empty()) return intent.link_blocked;
  for (const Claim& claim : intent.claims) {
    if (!IsAmong(netdev, claim.netdevs)) continue;
    return {ChooseCode(claim.kind),
            FormatClaim(claim, "it") + (claim.kind == ClaimKind::kNetplan ? " as well" : "")};
  }
  if (IsAmong(netdev, intent.down) && !intent.down_blocked.empty()) return intent.down_blocked;
  if (intent.claims.empty()) return {};
  const Claim& claim = intent.claims.front();
  return {ChooseCode(claim.kind), fmt::format("nothing is written here while {}",
                                              FormatClaim(claim, Join(claim.netdevs, ", ")))};
}

OtherOwner FindClaimant(const Intent& intent, const std::string& netdev) {
  if (!intent.link_blocked.empty() || intent.claims.empty()) return {};
  const auto own = std::find_if(intent.claims.begin(), intent.claims.end(),
                                [&](const Claim& claim) { return IsAmong(netdev, claim.netdevs); });
  const Claim& claim = own == intent.claims.end() ? intent.claims.front() : *own;
  return {.name = claim.path, .claims = claim.netdevs};
}

bool IsLinkClaimed(const Intent& intent, const std::string& netdev) {
  return std::any_of(intent.claims.begin(), intent.claims.end(), [&](const Claim& claim) {
    return claim.kind != ClaimKind::kNetplan && IsAmong(netdev, claim.netdevs);
  });
}

Intent BuildIntent(const PluginInput& input) {
  Intent intent{.ports = GetPorts(input.fabric, input.node.name), .down = ListDownNetdevs(input)};
  std::vector<std::string> netdevs;
  for (const RailPort& port : intent.ports) netdevs.push_back(port.netdev);
  netdevs.insert(netdevs.end(), intent.down.begin(), intent.down.end());
  intent.protection = FindProtection(input.node, input.facts);
  const Masters named = ReadAdoptedMasters(input.cluster, input.node.name);
  intent.adoptions = FindAdoptions(input, ReadAdopt(input.cluster, input.node.name), named, netdevs,
                                   intent.protection);
  intent.masters = FindLiveMasters(input, named, intent.adoptions, netdevs, intent.protection);
  intent.tree = ReadForeignTree(input.facts, netdevs, intent.protection.Netdevs(),
                                ListAdopted(intent.adoptions));
  intent.claims = intent.tree.claims;
  AddManagerClaims(input.facts, intent);
  AddMasterClaims(input.facts, netdevs, intent);
  ExplainNotAdopted(intent.adoptions, intent.claims);
  ExplainNotAdopted(intent.masters, intent.claims);
  OfferAdoption(input, intent.claims);
  FindObstacles(input, netdevs, intent);
  return intent;
}

const std::vector<RailPort>& GetPorts(const Fabric& fabric, const NodeName& node) {
  static const std::vector<RailPort> kNone;
  const auto found = fabric.ports.find(node);
  return found != fabric.ports.end() ? found->second : kNone;
}

std::vector<std::string> ListCageNetdevs(const PluginInput& input) {
  std::vector<std::string> netdevs;
  const Hardware* hardware = input.cluster.FindHardware(input.node);
  if (hardware == nullptr) return netdevs;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) netdevs.push_back(twin.netdev);
  }
  return netdevs;
}

std::vector<std::string> ListDownNetdevs(const PluginInput& input) {
  if (input.cluster.fabric.unused_cages != UnusedCages::kDown) return {};
  const auto found = input.fabric.unused_netdevs.find(input.node.name);
  return found != input.fabric.unused_netdevs.end() ? found->second : std::vector<std::string>();
}

const LinkFact* FindLink(const PluginInput& input, const std::string& netdev) {
  const auto found = input.facts.links.find(netdev);
  return found != input.facts.links.end() ? &found->second : nullptr;
}

std::vector<RunCommand> RegenerateOurs(const Intent& intent) {
  return Regenerate(intent.tree.renderer, intent.tree.files, ListGenerated(intent));
}

std::vector<RunCommand> ActivateOurs(const PluginInput& input, const Intent& intent) {
  std::vector<RunCommand> commands = RegenerateOurs(intent);
  for (const std::string& netdev : ListGenerated(intent)) {
    if (CanReconfigure(FindLink(input, netdev), intent.tree.renderer)) {
      commands.push_back(Reconfigure(intent.tree.renderer, netdev));
    }
  }
  return commands;
}

PruneCommands RemoveOurGenerated(const Intent& intent) {
  return {.before = {RemoveGenerated(intent.tree.renderer, ListGenerated(intent))},
          .after = {ReloadFiles(intent.tree.renderer)}};
}

bool CanReconfigure(const LinkFact* link, Renderer renderer) {
  if (link == nullptr) return false;
  return renderer == Renderer::kNetworkd || link->carrier || !link->admin_up;
}

}  // namespace reconciler::plugins::netplan
