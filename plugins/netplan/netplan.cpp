#include "plugins/netplan/netplan.h"

#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/protection/protection.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/intent.h"
#include "plugins/netplan/link_resources.h"
#include "plugins/netplan/paths.h"
#include "plugins/netplan/rdma_users.h"
#include "plugins/netplan/render.h"
#include "plugins/netplan/routes.h"
#include "reconciler/base/mark.h"

namespace reconciler::plugins::netplan {
namespace {

Resource OwnFileResource(const PluginInput& input, const Intent& intent) {
  const bool networkd = intent.tree.renderer == Renderer::kNetworkd;
  const std::string body =
      NetplanBody(intent.ports, networkd ? intent.down : std::vector<std::string>());
  std::vector<RunCommand> triggers = RegenerateOurs(intent);
  const auto reconfigure = [&](const std::string& netdev) {
    if (CanReconfigure(LinkOf(input, netdev), intent.tree.renderer)) {
      triggers.push_back(Reconfigure(intent.tree.renderer, netdev));
    }
  };
  for (const RailPort& port : intent.ports) reconfigure(port.netdev);
  if (networkd) {
    for (const std::string& netdev : intent.down) reconfigure(netdev);
  }
  const Observed<FileState> observed = FileOf(input.facts, std::string(kOwnFile));
  // The triggers reconfigure every port, also one that is as it should be.
  std::vector<Action> undo;
  const std::vector<RunCommand> withdraw = WithdrawOurs(intent);
  if (std::holds_alternative<Absent>(observed)) undo.assign(withdraw.begin(), withdraw.end());
  for (const RailPort& port : intent.ports) {
    const LinkFact* link = LinkOf(input, port.netdev);
    if (link == nullptr || link->mtu == 0) continue;
    for (RunCommand& command : RestoreLink(port.netdev, *link)) undo.push_back(std::move(command));
  }
  Resource resource{.kind = "file",
                    .name = std::string(kOwnFile),
                    .node = input.node.name,
                    .desired = ResourceState(
                        FileState{.content = OwnedFile(input.cluster.name, body), .mode = 0600}),
                    .observed = AsState(observed),
                    .undo = std::move(undo),
                    .triggers = std::move(triggers),
                    .release = Release{.after = withdraw},  // the links' entries know their values
                    .impact = Impact::kLinkFlap,
                    .interrupts = CutOff(input.facts, intent.ports),
                    .blocked = intent.blocked,
                    .where = input.cluster.Mark(input.cluster.fabric.position)};
  BlockUnlessOurs(resource, input.cluster.name, input.cluster.former_name);
  return resource;
}

// Written where NetworkManager must let go of ports; taken away again when it is ours and no longer
// wanted.
void AddUnmanagedFile(const PluginInput& input, const Intent& intent,
                      std::vector<Resource>& resources) {
  const Observed<FileState> observed = FileOf(input.facts, std::string(kUnmanagedFile));
  const bool wanted = intent.tree.renderer == Renderer::kNetworkManager && !intent.down.empty();
  const auto* state = Known(observed);
  if (!wanted && (state == nullptr || !input.cluster.Owns(OwnerOf(state->content).value_or(""))))
    return;
  Resource resource{.kind = "file",
                    .name = std::string(kUnmanagedFile),
                    .node = input.node.name,
                    .observed = AsState(observed),
                    .triggers = {RunCommand{.argv = {"nmcli", "general", "reload", "conf"}}},
                    .blocked = intent.blocked,
                    .where = input.cluster.Mark(input.cluster.fabric.position)};
  if (wanted) {
    resource.desired = ResourceState(
        FileState{.content = OwnedFile(input.cluster.name, UnmanagedBody(intent.down))});
  }
  BlockUnlessOurs(resource, input.cluster.name, input.cluster.former_name);
  resources.push_back(std::move(resource));
}

// Always shown: even while everything holds, such a file undoes us at the next boot.
Resource ForeignFile(const PluginInput& input, const Intent& intent, const Claim& claim) {
  return {.kind = "file",
          .name = claim.path,
          .node = input.node.name,
          .desired = Absent{},
          .observed = AsState(FileOf(input.facts, claim.path)),
          .blocked = ClaimText(claim, intent.protection),
          .where = input.cluster.Mark(input.cluster.fabric.position)};
}

std::vector<Read> Probe(const ClusterSpec&, const Fabric& fabric, const NodeSpec& node) {
  if (PortsOf(fabric, node.name).empty()) return {};
  std::vector<Read> reads = {
      ReadFile{std::string(kOwnFile)},
      ReadFile{std::string(kUnmanagedFile)},
      ReadFiles{"/lib/netplan/*.yaml"},
      ReadFiles{"/etc/netplan/*.yaml"},
      ReadFiles{"/run/netplan/*.yaml"},
      RunProbe{.id = std::string(kDefaultRouteKey), .argv = {"ip", "-j", "-4", "route", "show"}}};
  for (Read& read : RdmaReads()) reads.push_back(std::move(read));
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(std::string(kDefaultRouteKey));
  if (found != reply.commands.end()) {
    facts.values[std::string(kDefaultRouteKey)] = ParseDefaultRoutes(found->second);
    facts.values[std::string(kRoutesKey)] = ParseRoutes(found->second);
  }
  facts.values[std::string(kRdmaUsersKey)] = ParseRdmaUsers(reply);
}

std::vector<Resource> Resources(const PluginInput& input) {
  if (PortsOf(input.fabric, input.node.name).empty()) return {};
  const Intent intent = IntentOf(input);
  std::vector<Resource> resources;
  for (const Claim& claim : intent.tree.claims)
    resources.push_back(ForeignFile(input, intent, claim));
  resources.push_back(OwnFileResource(input, intent));
  AddUnmanagedFile(input, intent, resources);
  for (const RailPort& port : intent.ports) resources.push_back(RailLink(input, intent, port));
  for (const std::string& netdev : intent.down) {
    resources.push_back(DownLink(input, intent, netdev));
  }
  return resources;
}

// Only ports of the fabric were ever ours; one of them may lead to the node by now.
void JudgeRelease(const PluginInput& input, Change& change) {
  std::vector<std::string> netdevs;
  std::vector<RailPort> ports;
  for (const auto& [netdev, link] : input.facts.links) {
    const bool in_file = change.kind != "link" && change.before &&
                         change.before->content.find("\n    " + netdev + ":") != std::string::npos;
    if (!in_file && change.name != netdev) continue;
    netdevs.push_back(netdev);
    ports.push_back({.netdev = netdev});
  }
  if (netdevs.empty()) return;
  change.interrupts = CutOff(input.facts, ports);
  const std::string why = WhyProtected(ProtectionOf(input.node, input.facts), netdevs);
  if (!why.empty()) Block(change, why);
}

}  // namespace

Plugin Get() {
  return {.name = "netplan",
          .after = {},
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .judge_release = JudgeRelease};
}

}  // namespace reconciler::plugins::netplan
