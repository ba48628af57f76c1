#include "reconciler/fabric/bootstrap.h"

#include <algorithm>

#include "reconciler/fabric/link_local.h"
#include "reconciler/model/find.h"

namespace reconciler {
namespace {

// The one with the management address, which every node reaches, or else the one of this session.
std::string FindManagementNetdev(const NodeSpec& node, const NodeFacts& facts) {
  if (const auto management = ParseIpv4(node.address)) {
    for (const auto& [netdev, link] : facts.links) {
      for (const Ipv4Prefix& prefix : link.ipv4) {
        if (prefix.address == *management && netdev != "lo") return netdev;
      }
    }
  }
  return facts.session.interface;
}

bool IsWireless(const NodeFacts& facts, const std::string& netdev) {
  const auto* wireless = Known(facts.health.wireless);
  return wireless != nullptr &&
         std::find(wireless->begin(), wireless->end(), netdev) != wireless->end();
}

// Another interface with a signal and an address in a subnet of `wireless`; empty: there is none.
std::string FindWired(const NodeFacts& facts, const std::string& wireless) {
  const auto own = facts.links.find(wireless);
  if (own == facts.links.end()) return {};
  for (const auto& [netdev, link] : facts.links) {
    if (!link.carrier || IsWireless(facts, netdev)) continue;
    for (const Ipv4Prefix& prefix : link.ipv4) {
      const bool same_subnet =
          std::any_of(own->second.ipv4.begin(), own->second.ipv4.end(),
                      [&](const Ipv4Prefix& one) { return one.Network() == prefix.Network(); });
      if (same_subnet) return netdev;
    }
  }
  return {};
}

BootstrapChoice ChooseOnManagement(const NodeSpec& node, const NodeFacts& facts) {
  BootstrapChoice choice{.netdev = FindManagementNetdev(node, facts)};
  if (!IsWireless(facts, choice.netdev)) return choice;
  choice.wireless = choice.netdev;
  if (std::string wired = FindWired(facts, choice.wireless); !wired.empty()) {
    choice.netdev = std::move(wired);
  }
  return choice;
}

// Ranks on different networks find each other only where routes happen to allow it, so that one
// node decides for all. Called for each node: it looks at those with a wireless interface alone.
void AvoidWifi(const ClusterSpec& cluster, const ClusterFacts& all, const std::string& port,
               BootstrapChoice& choice) {
  if (all.nodes.size() < cluster.nodes.size()) choice.if_on_wifi = port;
  for (const auto& [name, facts] : all.nodes) {
    const auto* wireless = Known(facts.health.wireless);
    if (wireless == nullptr) choice.if_on_wifi = port;
    if (wireless == nullptr || wireless->empty()) continue;
    const NodeSpec* node = cluster.FindNode(name);
    if (node == nullptr) continue;
    const BootstrapChoice own = ChooseOnManagement(*node, facts);
    if (own.wireless.empty() || own.netdev != own.wireless) continue;
    choice.netdev = port;
    choice.on_wifi = name;
    choice.if_on_wifi.clear();
    return;
  }
}

}  // namespace

Bootstrap ReadBootstrap(const ClusterSpec& cluster) {
  const Value* bootstrap = cluster.settings.At({"nccl", "bootstrap"});
  return bootstrap != nullptr && bootstrap->ScalarText() == "fabric" ? Bootstrap::kFabric
                                                                     : Bootstrap::kManagement;
}

const Segment* FindCommonRail(const ClusterSpec& cluster, const Fabric& fabric) {
  const auto found = std::find_if(
      fabric.segments.begin(), fabric.segments.end(),
      [&](const Segment& segment) { return segment.ports.size() == cluster.nodes.size(); });
  return found == fabric.segments.end() ? nullptr : &*found;
}

const Segment* FindBootstrapRail(const ClusterSpec& cluster, const Fabric& fabric) {
  const auto found =
      std::find_if(fabric.segments.begin(), fabric.segments.end(), [&](const Segment& segment) {
        return !IsLinkLocal(segment) && segment.ports.size() == cluster.nodes.size();
      });
  return found == fabric.segments.end() ? nullptr : &*found;
}

std::string_view ExplainNoBootstrapRail(const ClusterSpec& cluster, const Fabric& fabric) {
  return FindCommonRail(cluster, fabric) != nullptr
             ? "the only one has link-local addresses, which are not known beforehand"
             : "each cable is a network of its two nodes alone";
}

BootstrapChoice ChooseBootstrap(const ClusterSpec& cluster, const Fabric& fabric,
                                const NodeFacts& facts, const ClusterFacts& all) {
  const Segment* rail = FindBootstrapRail(cluster, fabric);
  const RailPort* port = rail == nullptr ? nullptr : FindPort(*rail, facts.node);
  if (ReadBootstrap(cluster) == Bootstrap::kFabric && port != nullptr) {
    return {.netdev = port->netdev};
  }
  const NodeSpec* node = cluster.FindNode(facts.node);
  BootstrapChoice choice = node != nullptr ? ChooseOnManagement(*node, facts) : BootstrapChoice{};
  if (port != nullptr) AvoidWifi(cluster, all, port->netdev, choice);
  return choice;
}

}  // namespace reconciler
