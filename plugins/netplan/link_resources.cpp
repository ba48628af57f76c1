#include "plugins/netplan/link_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "plugins/common/commands/one_line.h"
#include "plugins/common/ports/links.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/ipv6_off.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/missing_port.h"
#include "plugins/netplan/reads/manager_keys.h"
#include "plugins/netplan/reads/rdma_users.h"
#include "plugins/netplan/scripts/set_addresses.sh.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kSetSh = FindLastLine(kSetAddressesSh);

// "up, mtu 9000, 192.168.177.1/24". Without a carrier no one can set addresses (and NetworkManager
// nothing at all), so that nothing can be wanted of them; verify reports the missing carrier.
// Which link-local address a port has does not count, since the node chooses it, and neither does
// the order of addresses. Nor do fe80 addresses: NetworkManager makes one even where
// `link-local: []` forbids it.
std::string FormatLink(bool up, bool carrier, int mtu, std::vector<Ipv4Prefix> addresses,
                       Renderer renderer) {
  const std::string with_mtu = fmt::format("{}, mtu {}", up ? "up" : "down", mtu);
  if (up && !carrier) {
    return renderer == Renderer::kNetworkd ? with_mtu + ", no carrier" : "up, no carrier";
  }
  std::sort(addresses.begin(), addresses.end());
  std::vector<std::string> texts;
  for (const Ipv4Prefix& address : addresses) {
    texts.push_back(IsLinkLocal(address) ? "link-local" : ToString(address));
  }
  return with_mtu + ", " + (texts.empty() ? "no address" : Join(texts, " "));
}

// The parts of FormatLink that differ, as the plan shows them: "down → up, mtu 1500 → 9000,
// +192.168.177.1/24".
std::string FormatLinkDifference(const LinkFact& link, bool carrier, const RailPort& port,
                                 Renderer renderer) {
  std::vector<std::string> parts;
  if (!link.admin_up) parts.emplace_back("down → up");
  const bool counts_mtu = carrier || renderer == Renderer::kNetworkd;
  if (counts_mtu && link.mtu != port.mtu) {
    parts.push_back(fmt::format("mtu {} → {}", link.mtu, port.mtu));
  }
  if (!carrier) return Join(parts, ", ");
  const auto own = std::find_if(link.ipv4.begin(), link.ipv4.end(),
                                [&](const Ipv4Prefix& one) { return Accepts(port, one); });
  for (auto one = link.ipv4.begin(); one != link.ipv4.end(); ++one) {
    if (one != own) parts.push_back("-" + ToString(*one));
  }
  if (own == link.ipv4.end()) parts.push_back("+" + FormatPortAddress(port));
  return Join(parts, ", ");
}

// What a port loses when its network manager configures it, besides IPv4 addresses. It is no part
// of FormatLink: nothing of it is a reason for a change.
void AddLost(const PluginInput& input, const std::string& netdev, std::string& label) {
  const auto found = input.facts.network.by_hand.find(netdev);
  if (found == input.facts.network.by_hand.end()) return;
  for (const std::string& one : found->second) {
    label += fmt::format("{}-{}", label.empty() ? "" : ", ", one);
  }
}

// What its triggers bring to effect: our file. A port that NetworkManager leaves alone is not in
// it.
std::vector<std::string> ListLinkNeeds(const PluginInput& input, const Intent& intent,
                                       const std::string& netdev) {
  const bool is_port = std::any_of(intent.ports.begin(), intent.ports.end(),
                                   [&](const RailPort& port) { return port.netdev == netdev; });
  if (!is_port && intent.tree.renderer == Renderer::kNetworkManager) return {};
  return {fmt::format("{}/file/{}", input.node.name, kOwnFile)};
}

Resource MakeBareLink(const PluginInput& input, const Intent& intent, const std::string& netdev,
                      const LinkFact* link) {
  Resource resource{.kind = std::string(kLinkKind),
                    .name = netdev,
                    .is_link = true,
                    .node = input.node.name,
                    .impact = Impact::kLinkFlap,
                    .blocked = FindLinkObstacle(intent, netdev),
                    .owner = FindClaimant(intent, netdev),
                    .needs = ListLinkNeeds(input, intent, netdev)};
  const Observed<int> links = Answer(input.facts.network.links);
  if (const auto* unknown = std::get_if<Unknown>(&links)) {
    resource.observed = *unknown;
  } else if (link == nullptr) {
    resource.blocked = ExplainMissingPort(input, netdev);
  } else if (link->mtu == 0) {
    resource.observed = Unknown{"ip shows no mtu for it"};
  }
  return resource;
}

void AddClaim(const Intent& intent, const std::string& netdev, Resource& resource) {
  if (Known(resource.observed) == nullptr) return;
  if (!intent.owner_unclear.empty()) {
    resource.observed = Unknown{intent.owner_unclear};
  } else {
    resource.contested = IsLinkClaimed(intent, netdev);
  }
}

RunCommand SetLive(const std::string& netdev, std::vector<std::string> argv) {
  return {.argv = std::move(argv), .must_succeed = true, .sets = "/sys/class/net/" + netdev};
}

RunCommand SetUp(const std::string& netdev, bool up) {
  return SetLive(netdev, {"ip", "link", "set", "dev", netdev, up ? "up" : "down"});
}

// The port is unmanaged again, with the values that it had.
PruneCommands MakeLinkPruneCommands(const Intent& intent, const std::string& netdev,
                                    const std::vector<RunCommand>& restore) {
  PruneCommands prune_commands{.before = {RemoveGenerated(intent.tree.renderer, {netdev})},
                               .after = {ReloadFiles(intent.tree.renderer)}};
  if (intent.tree.renderer == Renderer::kNetworkManager) {
    prune_commands.before.insert(prune_commands.before.begin(), TakeDown(netdev));
  }
  prune_commands.after.insert(prune_commands.after.end(), restore.begin(), restore.end());
  return prune_commands;
}

}  // namespace

std::vector<RunCommand> MakeLinkRevertCommands(const NodeFacts& facts, const std::string& netdev,
                                               const LinkFact& link) {
  std::vector<RunCommand> revert = RestoreManagerKeys(facts, netdev);
  revert.push_back(
      SetLive(netdev, {"ip", "link", "set", "dev", netdev, "mtu", fmt::format("{}", link.mtu)}));
  std::vector<std::string> set_addresses = {"sh", "-c", std::string(kSetSh), "sh", netdev};
  for (const Ipv4Prefix& address : link.ipv4) set_addresses.push_back(ToString(address));
  revert.push_back(SetLive(netdev, std::move(set_addresses)));
  revert.push_back(SetUp(netdev, link.admin_up));
  if (IsIpv6Off(facts, netdev)) revert.push_back(TurnIpv6Off(netdev));
  return revert;
}

Resource MakeRailLink(const PluginInput& input, const Intent& intent, const RailPort& port) {
  const LinkFact* link = FindLink(input, port.netdev);
  const Renderer renderer = intent.tree.renderer;
  // A port that is down shows no carrier, cable or not.
  const bool carrier = link == nullptr || link->carrier || !link->admin_up;
  Resource resource = MakeBareLink(input, intent, port.netdev, link);
  resource.desired =
      ResourceState(FormatLink(/*up=*/true, carrier, port.mtu, {port.address}, renderer));
  resource.where = input.cluster.Mark(port.position);
  if (link == nullptr) return resource;
  if (link->mtu != 0) {
    resource.observed =
        ResourceState(FormatLink(link->admin_up, carrier, link->mtu, link->ipv4, renderer));
    resource.label = FormatLinkDifference(*link, carrier, port, renderer);
    AddLost(input, port.netdev, resource.label);
  }
  AddClaim(intent, port.netdev, resource);
  const std::vector<RunCommand> restore = MakeLinkRevertCommands(input.facts, port.netdev, *link);
  resource.revert.assign(restore.begin(), restore.end());
  resource.prune_commands = MakeLinkPruneCommands(intent, port.netdev, restore);
  resource.interrupts = ListCutOff(input.facts, {port});
  resource.triggers = RegenerateOurs(intent);
  if (CanReconfigure(link, renderer)) {
    resource.triggers.push_back(Reconfigure(renderer, port.netdev));
  }
  if (renderer == Renderer::kNetworkManager) resource.settles = {NameIpv6Switch(port.netdev)};
  return resource;
}

Resource MakeDownLink(const PluginInput& input, const Intent& intent, const std::string& netdev) {
  const LinkFact* link = FindLink(input, netdev);
  Resource resource = MakeBareLink(input, intent, netdev, link);
  resource.desired = ResourceState(std::string("down"));
  resource.where = input.cluster.Mark(input.cluster.fabric.position);
  if (link == nullptr) return resource;
  resource.observed = ResourceState(std::string(link->admin_up ? "up" : "down"));
  if (link->admin_up) {
    resource.label = "up → down";
    AddLost(input, netdev, resource.label);
  } else {
    resource.impact = Impact::kNone;
  }
  AddClaim(intent, netdev, resource);
  const std::string cut_off = ListCutOff(input.facts, {{.netdev = netdev}});
  resource.interrupts = cut_off;
  const RunCommand restore = SetUp(netdev, link->admin_up);
  resource.revert = {restore};
  resource.prune_commands = MakeLinkPruneCommands(intent, netdev, {restore});
  if (intent.tree.renderer == Renderer::kNetworkd) {
    resource.interrupts = cut_off;
    resource.triggers = RegenerateOurs(intent);
    resource.triggers.push_back(Reconfigure(Renderer::kNetworkd, netdev));
  } else {
    resource.apply = {SetUp(netdev, /*up=*/false)};
  }
  return resource;
}

}  // namespace reconciler::plugins::netplan
