#include "plugins/netplan/netplan.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/adopt/list_of_all.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/ports/ip.h"
#include "plugins/common/protection/protection.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/claims.h"
#include "plugins/netplan/adopt/ipv6_off.h"
#include "plugins/netplan/adopt/owner_files.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/section.h"
#include "plugins/netplan/adopted_before.h"
#include "plugins/netplan/adopted_file.h"
#include "plugins/netplan/adoption.h"
#include "plugins/netplan/boot_hook.h"
#include "plugins/netplan/boot_unit.h"
#include "plugins/netplan/intent.h"
#include "plugins/netplan/link_resources.h"
#include "plugins/netplan/live_master.h"
#include "plugins/netplan/prune_check.h"
#include "plugins/netplan/reads/boot_services.h"
#include "plugins/netplan/reads/manager_keys.h"
#include "plugins/netplan/reads/masters.h"
#include "plugins/netplan/reads/rdma_users.h"
#include "plugins/netplan/reads/routes.h"
#include "plugins/netplan/render.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

// The adopted files, which would add to what ours says, and the links that its triggers would
// change. A link that cannot be changed on this node at all, as a port that is not there, holds up
// no other one.
std::vector<std::string> ListFileNeeds(const PluginInput& input, const Intent& intent,
                                       const std::vector<Resource>& links) {
  std::vector<std::string> ids;
  for (const std::string& path : ListAdopted(intent.adoptions)) {
    ids.push_back(fmt::format("{}/file/{}", input.node.name, path));
  }
  for (const std::string& master : ListAdopted(intent.masters)) {
    ids.push_back(fmt::format("{}/master/{}", input.node.name, master));
  }
  for (const Resource& link : links) {
    if (link.blocked.empty() && Known(link.observed) != nullptr) ids.push_back(link.Id());
  }
  return ids;
}

bool Holds(const Resource& link) {
  const ResourceState* observed = Known(link.observed);
  const auto* desired = std::get_if<ResourceState>(&link.desired);
  return observed != nullptr && desired != nullptr && *observed == *desired && link.blocked.empty();
}

// The live state is as it must be, so that our file only replaces an adopted one.
bool OnlyAdopts(const Intent& intent, const std::vector<Resource>& links) {
  return !ListAdopted(intent.adoptions).empty() && std::all_of(links.begin(), links.end(), Holds);
}

Resource MakeOwnFileResource(const PluginInput& input, const Intent& intent,
                             const std::vector<Resource>& links) {
  const bool networkd = intent.tree.renderer == Renderer::kNetworkd;
  const std::string body = FormatNetplan(
      intent.ports, networkd ? intent.down : std::vector<std::string>(), intent.tree.renderer);
  const Observed<FileState> observed = FindFile(input.facts, std::string(kOwnFile));
  // The triggers reconfigure every port, also one that is as it should be.
  std::vector<Action> revert;
  if (std::holds_alternative<Absent>(observed)) {
    revert.push_back(ReloadFiles(intent.tree.renderer));
  }
  for (const RailPort& port : intent.ports) {
    const LinkFact* link = FindLink(input, port.netdev);
    if (link == nullptr || link->mtu == 0) continue;
    for (RunCommand& command : MakeLinkRevertCommands(input.facts, port.netdev, *link))
      revert.push_back(std::move(command));
  }
  Resource resource{
      .kind = "file",
      .name = std::string(kOwnFile),
      .node = input.node.name,
      .desired = ResourceState(
          FileState{.content = FormatOwnedFile(input.cluster.name, body), .mode = 0600}),
      .observed = AsState(observed),
      .revert = std::move(revert),
      .trial = MakeTrial(std::string(kTrialFile)),
      .adopts = observed == Observed<FileState>(Absent{}) && OnlyAdopts(intent, links),
      .triggers = ActivateOurs(input, intent),
      .prune_commands = RemoveOurGenerated(intent),  // the links' entries know their values
      .impact = Impact::kLinkFlap,
      .interrupts = ListCutOff(input.facts, intent.ports),
      .blocked = intent.blocked,
      .owner = FindClaimant(intent, {}),
      .needs = ListFileNeeds(input, intent, links),
      .where = input.cluster.Mark(input.cluster.fabric.position)};
  if (!networkd) {
    for (const RailPort& port : intent.ports)
      resource.settles.push_back(NameIpv6Switch(port.netdev));
  }
  BlockUnlessOurs(resource, input.cluster.name, input.cluster.former_name);
  return resource;
}

// Written where NetworkManager must let go of ports; removed again when it is ours and no longer
// wanted.
void AddUnmanagedFile(const PluginInput& input, const Intent& intent,
                      std::vector<Resource>& resources) {
  const Observed<FileState> observed = FindFile(input.facts, std::string(kUnmanagedFile));
  const bool wanted = intent.tree.renderer == Renderer::kNetworkManager && !intent.down.empty();
  const auto* state = Known(observed);
  if (!wanted && (state == nullptr || !input.cluster.Owns(FindOwner(state->content).value_or(""))))
    return;
  Resource resource{.kind = "file",
                    .name = std::string(kUnmanagedFile),
                    .node = input.node.name,
                    .observed = AsState(observed),
                    .triggers = {RunCommand{.argv = {"nmcli", "general", "reload", "conf"},
                                            .id = "reload NetworkManager's settings"}},
                    .blocked = intent.blocked,
                    .where = input.cluster.Mark(input.cluster.fabric.position)};
  if (wanted) {
    resource.desired = ResourceState(
        FileState{.content = FormatOwnedFile(input.cluster.name, FormatUnmanaged(intent.down))});
  }
  BlockUnlessOurs(resource, input.cluster.name, input.cluster.former_name);
  resources.push_back(std::move(resource));
}

// Empty: the hardware's profile has none.
std::string FindPciOf(const Hardware* hardware, const RailPort& port) {
  const Cage* cage = hardware == nullptr ? nullptr : hardware->FindCage(port.cage);
  const auto twin = static_cast<std::size_t>(port.twin);
  return cage == nullptr || twin >= cage->twins.size() ? "" : cage->twins[twin].pci;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node) {
  if (GetPorts(fabric, node.name).empty()) return {};
  std::vector<Read> reads = {
      ReadFile{std::string(kOwnFile)},  ReadFile{std::string(kUnmanagedFile)},
      ReadFiles{"/lib/netplan/*.yaml"}, ReadFiles{"/etc/netplan/*.yaml"},
      ReadFiles{"/run/netplan/*.yaml"}, ReadFiles{kDisabledBySync}};
  for (const AdoptEntry& entry : ReadAdopt(cluster, node.name)) {
    if (!entry.path.empty()) reads.emplace_back(ReadFile{entry.path});
  }
  for (Read& read : ListRdmaReads()) reads.push_back(std::move(read));
  for (Read& read : ListOwnerReads()) reads.push_back(std::move(read));
  std::map<std::string, std::string> netdevs;  // and the PCI addresses
  for (const RailPort& port : GetPorts(fabric, node.name)) {
    for (Read& read : ListManagerReads(port.netdev)) reads.push_back(std::move(read));
    netdevs[port.netdev] = FindPciOf(cluster.FindHardware(node), port);
  }
  reads.emplace_back(MakeBootServicesProbe(netdevs));
  reads.emplace_back(MakeIpProbe());
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  if (const std::optional<IpReply> ip = FindIpReply(reply)) {
    facts.network.default_route = ParseDefaultRoutes(ip->routes);
    facts.network.routes = ParseRoutes(ip->routes);
    for (const RouteFact& route : ListRoutesByHand(ip->routes)) {
      facts.network.by_hand[route.netdev].push_back("route " + ToString(route.destination));
    }
    for (const auto& [netdev, destinations] : ListIpv6RoutesByHand(ip->ipv6_routes)) {
      for (const std::string& one : destinations) {
        facts.network.by_hand[netdev].push_back("route " + one);
      }
    }
  }
  facts.rdma.users = ParseRdmaUsers(reply);
  StoreManagerKeys(reply, facts);
  StoreBootServices(reply, facts);
  StoreMasters(reply, facts);
}

std::vector<Resource> Resources(const PluginInput& input) {
  if (GetPorts(input.fabric, input.node.name).empty()) return {};
  const Intent intent = BuildIntent(input);
  std::vector<Resource> links;
  for (const RailPort& port : intent.ports) links.push_back(MakeRailLink(input, intent, port));
  // First: what comes first is the last that a revert and a prune set back, with ports that have
  // their values again.
  std::vector<Resource> resources = MakeLiveMasters(input, intent);
  for (Resource& file : MakeAdoptedFiles(input, intent)) resources.push_back(std::move(file));
  resources.push_back(MakeOwnFileResource(input, intent, links));
  AddUnmanagedFile(input, intent, resources);
  for (Resource& link : links) resources.push_back(std::move(link));
  for (const std::string& netdev : intent.down) {
    resources.push_back(MakeDownLink(input, intent, netdev));
  }
  // Last: what comes last is the first that a revert and a prune set back.
  for (Resource& unit : MakeAdoptedUnits(input, intent)) resources.push_back(std::move(unit));
  return resources;
}

// What of another owner configures our ports. Always said: even while everything holds, it reverts
// us at the next boot.
std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  if (GetPorts(input.fabric, input.node.name).empty()) return {};
  const Intent intent = BuildIntent(input);
  std::vector<Diagnostic> diagnostics;
  for (const Claim& claim : intent.claims) {
    diagnostics.push_back(DiagnoseClaim(claim, intent.protection));
  }
  for (const RailPort& port : intent.ports) {
    for (Diagnostic& one :
         DiagnosePort(input.facts, intent.tree.renderer, intent.protection, port.netdev)) {
      diagnostics.push_back(std::move(one));
    }
  }
  for (Diagnostic& one : DiagnoseBootUnits(input, intent)) diagnostics.push_back(std::move(one));
  for (Diagnostic& one : DiagnoseBootHooks(input, intent)) diagnostics.push_back(std::move(one));
  for (Diagnostic& one : diagnostics) {
    one.where = input.cluster.Mark(input.cluster.fabric.position);
  }
  return diagnostics;
}

std::vector<AdoptableFile> ListAllAdoptable(const ClusterSpec& cluster, const Fabric& fabric,
                                            const ClusterFacts& all) {
  return ListOfAll<PluginInput>(cluster, fabric, all, [](const PluginInput& input) {
    std::vector<AdoptableFile> files = ListAdoptable(input);
    for (AdoptableFile& unit : ListAdoptableUnits(input)) files.push_back(std::move(unit));
    for (AdoptableFile& before : ListAdoptedBefore(input)) {
      const bool is_there = std::any_of(files.begin(), files.end(), [&](const AdoptableFile& one) {
        return one.entry == before.entry;
      });
      if (!is_there) files.push_back(std::move(before));
    }
    return files;
  });
}

}  // namespace

Plugin Get() {
  return {.name = "netplan",
          .sets_links = true,
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .check = CheckAdopt,
          .diagnose = Diagnose,
          .adoptable = ListAllAdoptable};
}

}  // namespace reconciler::plugins::netplan
