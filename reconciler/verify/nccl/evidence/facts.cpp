#include "reconciler/verify/nccl/evidence/facts.h"

#include "reconciler/base/text.h"
#include "reconciler/spark_verify/protocol/facts.h"

namespace reconciler {
namespace {

// "=enP7s7", "enP7s7,eth0": what the first name finds, which is a beginning where no "=" stands
// before it; empty when it only says what not to take, or nothing, which NCCL takes for not set.
std::string FindFirstInterface(const std::string& value, const NodeFacts& facts) {
  if (value.empty() || value.starts_with('^')) return {};
  const std::string name = Split(value.starts_with('=') ? value.substr(1) : value, ',').front();
  const auto found = facts.links.lower_bound(name);
  const bool begins = found != facts.links.end() && found->first.starts_with(name);
  return begins && !value.starts_with('=') ? found->first : name;
}

// The interface that holds the address under which the node is reached.
std::string FindInterface(const std::string& address, const NodeFacts& facts) {
  for (const auto& [name, link] : facts.links) {
    for (const Ipv4Prefix& prefix : link.ipv4) {
      if (ToString(prefix.address) == address) return name;
    }
  }
  return {};
}

}  // namespace

Result<std::map<std::string, HcaRail>> ParseHcas(std::string_view text) {
  const auto facts = spark_verify::ParseFacts(text);
  if (!facts) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = "wanted the facts that spark-verify prints, found other text: " +
                            MakePrintable(text.substr(0, 80)),
                 .hint = MakePrintable(facts.error().message)});
  }
  std::map<std::string, HcaRail> hcas;
  for (const spark_verify::DeviceFacts& device : facts->devices) {
    if (MakePrintable(device.hca) != device.hca) continue;  // names are printed
    hcas[device.hca] = {.rail = {.limits = device.limits, .active_mtu = device.active_mtu},
                        .netdev = device.netdev};
  }
  return hcas;
}

Fabric ApplyHcas(Fabric fabric, const NodeName& node, const std::map<std::string, HcaRail>& hcas) {
  const auto rename = [&](RailPort& port) {
    if (port.node != node) return;
    for (const auto& [hca, rail_hca] : hcas) {
      if (rail_hca.netdev == port.netdev) port.hca = hca;
    }
  };
  for (RailPort& port : fabric.ports[node]) rename(port);
  for (Segment& segment : fabric.segments) {
    for (RailPort& port : segment.ports) rename(port);
  }
  return fabric;
}

std::optional<BootstrapNetwork> FindBootstrapNetwork(
    const NodeSpec& node, const NodeFacts& facts, const std::map<std::string, std::string>& env) {
  std::string netdev;
  if (const auto named = env.find("NCCL_SOCKET_IFNAME"); named != env.end()) {
    netdev = FindFirstInterface(named->second, facts);
  }
  if (netdev.empty()) netdev = facts.session.interface;
  if (netdev.empty()) netdev = FindInterface(node.address, facts);
  const auto link = facts.links.find(netdev);
  if (link == facts.links.end() || link->second.ipv4.empty()) return std::nullopt;
  BootstrapNetwork network{.subnet = link->second.ipv4.front(), .netdev = netdev};
  const auto management = ParseIpv4(node.address);
  for (const Ipv4Prefix& prefix : link->second.ipv4) {
    if (management && prefix.Contains(*management)) network.subnet = prefix;
  }
  return network;
}

}  // namespace reconciler
