#include "reconciler/fabric/switch_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reconciler/base/text.h"
#include "reconciler/model/switch_legs.h"

namespace reconciler {
namespace {

std::string DescribeFec(Fec fec) {
  switch (fec) {
    case Fec::kAuto:
      return "FEC auto";
    case Fec::kRs:
      return "RS-FEC (clause 91)";
    case Fec::kFc:
      return "FC-FEC (clause 74)";
    case Fec::kOff:
      return "FEC off";
  }
  return {};
}

// Ports of this switch at the far end of other switches' uplinks count as its own.
std::vector<SwitchPort> ListAllPorts(const ClusterSpec& cluster, const SwitchSpec& one) {
  std::vector<SwitchPort> ports = one.ports;
  ports.insert(ports.end(), one.uplinks.begin(), one.uplinks.end());
  // A port goes no faster than the card at the other end of its cable.
  for (SwitchPort& port : ports) {
    const NodeSpec* node = cluster.FindNode(port.peer.node);
    const Hardware* hardware = node != nullptr ? cluster.FindHardware(*node) : nullptr;
    if (hardware != nullptr) port.gbps = std::min(port.gbps, hardware->cage_gbps);
  }
  for (const SwitchSpec& other : cluster.switches) {
    for (const SwitchPort& uplink : other.uplinks) {
      if (uplink.peer.node != one.name) continue;
      ports.push_back(
          {.port = uplink.peer.cage, .peer = {other.name, uplink.port}, .gbps = uplink.gbps});
    }
  }
  std::stable_sort(ports.begin(), ports.end(),
                   [](const SwitchPort& a, const SwitchPort& b) { return a.port < b.port; });
  return ports;
}

// Cables to one other switch: several of them must be one link, or spanning tree turns all but one
// off.
std::map<std::string, std::vector<std::string>> FindBonds(const ClusterSpec& cluster,
                                                          const std::vector<SwitchPort>& ports) {
  std::map<std::string, std::vector<std::string>> bonds;  // "to-spine-1" → its ports
  for (const SwitchPort& port : ports) {
    if (cluster.FindNode(port.peer.node) == nullptr) {
      bonds["to-" + port.peer.node].push_back(port.port);
    }
  }
  std::erase_if(bonds, [](const auto& bond) { return bond.second.size() < 2; });
  return bonds;
}

// The bridge's ports: those without a bond, then the bonds.
std::vector<std::string> ListBridgePorts(const ClusterSpec& cluster,
                                         const std::vector<SwitchPort>& ports) {
  const auto bonds = FindBonds(cluster, ports);
  std::vector<std::string> names;
  for (const SwitchPort& port : ports) {
    if (!bonds.contains("to-" + port.peer.node)) names.push_back(port.port);
  }
  for (const auto& [name, members] : bonds) names.push_back(name);
  return names;
}

// Lanes of a leg carry 50 Gb/s each, those of a whole cage are four, or eight from 400 Gb/s on.
int CountLanes(const SwitchSpec& one, const SwitchPort& port) {
  for (const auto& [cage, text] : one.breakout) {
    if (IsLeg(port.port, cage) && ListLegs(text).gbps > 0) return ListLegs(text).gbps / 50;
  }
  return port.gbps >= 400 ? 8 : 4;
}

// Empty: RouterOS has no setting for it, and the ports must agree on their own.
std::string_view FormatRouterOsSpeed(int gbps, int lanes) {
  if (gbps == 400 && lanes == 8) return "400G-baseCR8";
  if (gbps == 200 && lanes == 4) return "200G-baseCR4";
  if (gbps == 100 && lanes == 4) return "100G-baseCR4";
  if (gbps == 100 && lanes == 2) return "100G-baseCR2";
  if (gbps == 50 && lanes == 1) return "50G-baseCR";
  if (gbps == 50 && lanes == 2) return "50G-baseCR2";
  return {};
}

std::string_view FormatRouterOsFec(Fec fec) {
  switch (fec) {
    case Fec::kAuto:
      return "auto";
    case Fec::kRs:
      return "fec91";
    case Fec::kFc:
      return "fec74";
    case Fec::kOff:
      return "off";
  }
  return {};
}

std::vector<std::string> ListRouterOsCommands(const ClusterSpec& cluster, const SwitchSpec& one) {
  const std::vector<SwitchPort> ports = ListAllPorts(cluster, one);
  std::vector<std::string> lines;
  if (!one.breakout.empty()) {
    lines.push_back(
        "# Leave all lane interfaces of a split cage enabled: an enabled one takes the lanes "
        "below.");
  }
  lines.push_back(fmt::format("/interface bridge add name={} protocol-mode=rstp", one.bridge));
  for (const SwitchPort& port : ports) {
    const std::string_view speed = FormatRouterOsSpeed(port.gbps, CountLanes(one, port));
    lines.push_back(fmt::format(
        "/interface ethernet set [find default-name={}] l2mtu={} mtu={} fec-mode={}{}", port.port,
        one.l2mtu, cluster.fabric.mtu, FormatRouterOsFec(one.fec),
        speed.empty() ? std::string() : fmt::format(" auto-negotiation=no speed={}", speed)));
  }
  for (const auto& [name, members] : FindBonds(cluster, ports)) {
    lines.push_back(fmt::format(
        "/interface bonding add name={} slaves={} mode=802.3ad transmit-hash-policy=layer-3-and-4",
        name, Join(members, ",")));
  }
  for (const std::string& port : ListBridgePorts(cluster, ports)) {
    lines.push_back(
        fmt::format("/interface bridge port add bridge={} interface={} hw=yes", one.bridge, port));
  }
  if (one.qos) {
    lines.emplace_back(
        "/interface ethernet switch qos profile add name=roce dscp=26 traffic-class=3");
    lines.emplace_back(
        "/interface ethernet switch qos profile add name=cnp dscp=48 traffic-class=6");
    lines.emplace_back("/interface ethernet switch set 0 qos-hw-offloading=yes");
    lines.emplace_back(
        "# To be completed by hand, the names differ between releases: DSCP 26 and 48 mapped to "
        "these profiles, every fabric port trusting DSCP (trust-l3), PFC for traffic class 3, "
        "lossless buffers, and ECN on queue 3.");
  }
  return lines;
}

std::vector<std::string> ListNvueCommands(const ClusterSpec& cluster, const SwitchSpec& one) {
  std::vector<std::string> lines;
  for (const auto& [cage, legs] : one.breakout) {
    lines.push_back(
        fmt::format("nv set interface {} link breakout {}x", cage, legs.substr(0, legs.find('x'))));
  }
  const std::vector<SwitchPort> ports = ListAllPorts(cluster, one);
  for (const SwitchPort& port : ports) {
    lines.push_back(fmt::format("nv set interface {} link speed {}G", port.port, port.gbps));
    lines.push_back(fmt::format("nv set interface {} link mtu {}", port.port, one.l2mtu));
    if (one.fec != Fec::kAuto) {
      lines.push_back(fmt::format("nv set interface {} link fec {}", port.port,
                                  one.fec == Fec::kFc ? "baser" : ToString(one.fec)));
    }
  }
  for (const auto& [name, members] : FindBonds(cluster, ports)) {
    lines.push_back(fmt::format("nv set interface {} bond member {}", name, Join(members, ",")));
  }
  for (const std::string& port : ListBridgePorts(cluster, ports)) {
    lines.push_back(fmt::format("nv set interface {} bridge domain {}", port, one.bridge));
  }
  if (one.qos) lines.emplace_back("nv set qos roce");
  lines.emplace_back("nv config apply");
  return lines;
}

}  // namespace

std::vector<std::string> ListSwitchRequirements(const ClusterSpec& cluster, const SwitchSpec& one) {
  const int least = cluster.fabric.mtu + kFrameOverhead;
  std::vector<std::string> lines;
  lines.push_back(
      one.name.empty()
          ? fmt::format("frames of at least {} bytes on every fabric port", least)
          : fmt::format("frames of {} bytes on every fabric port (at least {})", one.l2mtu, least));
  lines.push_back(fmt::format(
      "one hardware-offloaded bridge{} with all fabric ports in it: a second one runs on its CPU",
      one.name.empty() ? std::string() : ", " + one.bridge + ","));
  if (one.name.empty()) return lines;
  lines.push_back(DescribeFec(one.fec) + " on every fabric port");
  for (const auto& [cage, legs] : one.breakout) {
    lines.push_back(fmt::format("{} split into {} Gb/s legs", cage, legs));
  }
  for (const auto& [name, members] : FindBonds(cluster, ListAllPorts(cluster, one))) {
    lines.push_back(fmt::format("{} as one link aggregation (LACP)", Join(members, " and ")));
  }
  if (one.qos) {
    lines.emplace_back(
        "PFC and ECN for RoCE: DSCP 26 lossless in class 3, CNP (DSCP 48) in class 6");
  }
  return lines;
}

std::vector<std::string> ListSwitchCommands(const ClusterSpec& cluster, const SwitchSpec& one) {
  switch (one.os) {
    case SwitchOs::kRouterOs:
      return ListRouterOsCommands(cluster, one);
    case SwitchOs::kNvue:
      return ListNvueCommands(cluster, one);
    case SwitchOs::kOther:
      break;
  }
  return {};
}

}  // namespace reconciler
