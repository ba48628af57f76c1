#include "reconciler/fabric/found/found_addresses.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/fabric/link_local.h"

namespace reconciler {
namespace {

// nullptr: it was not read, or the node does not have it.
const LinkFact* FindLinkOf(const ClusterFacts& facts, const RailPort& port) {
  const auto node = facts.nodes.find(port.node);
  if (node == facts.nodes.end()) return nullptr;
  const auto link = node->second.links.find(port.netdev);
  return link == node->second.links.end() ? nullptr : &link->second;
}

void ApplyFound(const ClusterFacts& facts, RailPort& port) {
  const LinkFact* link = FindLinkOf(facts, port);
  if (link == nullptr || !IsLinkLocal(port)) return;
  const auto found = std::find_if(link->ipv4.begin(), link->ipv4.end(),
                                  [](const Ipv4Prefix& one) { return IsLinkLocal(one); });
  if (found != link->ipv4.end()) port.address = *found;
}

}  // namespace

Fabric ApplyFoundAddresses(Fabric fabric, const ClusterFacts& facts) {
  for (Segment& segment : fabric.segments) {
    for (RailPort& port : segment.ports) ApplyFound(facts, port);
  }
  for (auto& [node, ports] : fabric.ports) {
    for (RailPort& port : ports) ApplyFound(facts, port);
  }
  return fabric;
}

const RailPort* FindWithoutAddress(const Segment& segment) {
  const auto found = std::find_if(segment.ports.begin(), segment.ports.end(),
                                  [](const RailPort& port) { return !HasAddress(port); });
  return found == segment.ports.end() ? nullptr : &*found;
}

std::string ExplainNoAddress(const RailPort& port) {
  return fmt::format("{} has no link-local address on {}", port.node, FormatRailName(port.rail));
}

std::string FindIpv6LinkLocal(const ClusterFacts& facts, const RailPort& port) {
  const LinkFact* link = FindLinkOf(facts, port);
  if (link == nullptr) return {};
  for (const std::string& prefix : link->ipv6) {
    if (prefix.starts_with("fe80:")) return prefix.substr(0, prefix.find('/'));
  }
  return {};
}

}  // namespace reconciler
