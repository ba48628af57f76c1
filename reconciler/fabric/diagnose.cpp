#include "reconciler/fabric/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/fabric/neighbours.h"
#include "reconciler/fabric/roofline.h"
#include "reconciler/fabric/switch_advice.h"

namespace reconciler {
namespace {

using Diagnostics = std::vector<Diagnostic>;

void DiagnoseRing(const ClusterSpec& cluster, const Fabric& fabric, Diagnostics& diagnostics) {
  if (!cluster.fabric.ring_collectives_only) {
    if (CagesDiffer(fabric)) {
      diagnostics.push_back(
          {.code = "fabric-needs-new-nccl",
           .message = "these cables need NCCL 2.30.7 or later, or a build patched for them, on the "
                      "nodes and in their containers: older ones cannot pair HCAs by subnet"});
    }
    return;
  }
  const std::vector<NodeName> order = OrderRing(cluster, fabric);
  diagnostics.push_back(
      {.code = "fabric-ring-collectives-only",
       .message = fmt::format(
           "ring of {}, collectives only: nodes that are not neighbours, such as {} and {}, share "
           "no cable. Send/recv, all-to-all and trees between them fail with stock NCCL: no expert "
           "or pipeline parallelism over the ring",
           order.size(), order.front(), order[2])});
  diagnostics.push_back(
      {.code = "fabric-ring-needs-nccl",
       .message = "ring collectives need NCCL 2.30.7 or later with NCCL_ALGO=Ring, "
                  "NCCL_CUMEM_ENABLE=1 and NCCL_IB_SUBNET_AWARE_ROUTING=1, ranks in the order of "
                  "the ring, and bootstrap over the management network"});
}

// All PCIe devices of its cages together.
double FindPciePayload(const ClusterSpec& cluster, const NodeName& name) {
  const NodeSpec* node = cluster.FindNode(name);
  const Hardware* hardware = node != nullptr ? cluster.FindHardware(*node) : nullptr;
  if (hardware == nullptr) return 0;
  std::set<std::string> devices;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) devices.insert(twin.PciDevice());
  }
  return ComputePciePayload(*hardware) * static_cast<double>(devices.size());
}

void DiagnoseSecondCables(const ClusterSpec& cluster, const Fabric& fabric,
                          Diagnostics& diagnostics) {
  constexpr double kWorthIt = 1.5;  // times one cable; a Spark's PCIe links carry 1.14 of one
  std::map<std::pair<NodeName, NodeName>, std::vector<const Wire*>> cables;
  for (const Wire& wire : fabric.wires) {
    if (wire.a.on_switch || wire.b.on_switch) continue;
    cables[std::minmax(wire.a.device, wire.b.device)].push_back(&wire);
  }
  for (const auto& [pair, wires] : cables) {
    if (wires.size() < 2) continue;
    const double one = ComputeWirePayload(wires.front()->gbps, cluster.fabric.mtu);
    for (const NodeName& node : {pair.first, pair.second}) {
      const double pcie = FindPciePayload(cluster, node);
      if (pcie > one * kWorthIt) continue;
      diagnostics.push_back(
          {.code = "fabric-second-cable",
           .message = fmt::format(
               "the second cable between {} and {} gains next to nothing: the cages of {} share "
               "PCIe links that carry {:.0f} Gb/s in all, and one cable carries {:.0f}",
               pair.first, pair.second, node, pcie, one)});
      break;
    }
  }
}

void DiagnoseNodeCount(const ClusterSpec& cluster, Diagnostics& diagnostics) {
  const std::size_t count = cluster.nodes.size();
  if (std::has_single_bit(count)) return;
  diagnostics.push_back(
      {.code = "fabric-node-count",
       .message = fmt::format("{} nodes are no power of two: tensor-parallel serving "
                              "splits a model's heads evenly and takes {} of them",
                              count, std::bit_floor(count))});
}

void DiagnoseLonelyRails(const Fabric& fabric, Diagnostics& diagnostics) {
  for (const Segment& segment : fabric.segments) {
    if (segment.ports.size() != 1) continue;
    diagnostics.push_back(
        {.code = "fabric-single-node-rail",
         .message = fmt::format("{} has one node, {}: no other has such a twin",
                                FormatRailName(segment.rail), segment.ports.front().node)});
  }
}

// Where the addresses of a subnet may be in use: by machines of the internet, or by containers.
void DiagnoseSubnets(const ClusterSpec& cluster, Diagnostics& diagnostics) {
  // RFC 1918, shared address space (RFC 6598), and benchmarks (RFC 2544).
  constexpr std::array<Ipv4Prefix, 5> kPrivate = {{{{0x0A000000}, 8},
                                                   {{0xAC100000}, 12},
                                                   {{0xC0A80000}, 16},
                                                   {{0x64400000}, 10},
                                                   {{0xC6120000}, 15}}};
  constexpr Ipv4Prefix kDocker = {{0xAC110000}, 16};
  const FabricSpec& spec = cluster.fabric;
  for (std::size_t i = 0; i < std::min(spec.subnets.size(), spec.subnet_positions.size()); ++i) {
    const Ipv4Prefix& subnet = spec.subnets[i];
    const SourceMark where = cluster.Mark(spec.subnet_positions[i]);
    const bool is_private =
        std::any_of(kPrivate.begin(), kPrivate.end(), [&](const Ipv4Prefix& one) {
          return subnet.length >= one.length && one.Contains(subnet.address);
        });
    if (!is_private) {
      diagnostics.push_back(
          {.severity = Severity::kWarns,
           .code = "fabric-public-subnet",
           .message = fmt::format("subnet {} is public address space: the nodes can no longer "
                                  "reach the machines of the internet that have it",
                                  ToString(subnet)),
           .next_step = "take private subnets, such as 192.168.177.0/24",
           .where = where});
    }
    if (subnet.Overlaps(kDocker)) {
      diagnostics.push_back(
          {.severity = Severity::kWarns,
           .code = "fabric-docker-subnet",
           .message = fmt::format("subnet {} overlaps {}, which Docker gives docker0 unless it is "
                                  "configured otherwise",
                                  ToString(subnet), ToString(kDocker)),
           .next_step = "take another subnet, such as 192.168.177.0/24, or set `bip` in "
                        "/etc/docker/daemon.json of the nodes",
           .where = where});
    }
  }
}

// What a node with two PCIe links per cage gives up with one of them.
void DiagnoseOneTwin(const ClusterSpec& cluster, Diagnostics& diagnostics) {
  if (cluster.fabric.twins == Twins::kBoth) return;
  for (const NodeSpec& node : cluster.nodes) {
    const Hardware* hardware = cluster.FindHardware(node);
    const Cage* cage = hardware != nullptr ? hardware->FindCage(node.cage) : nullptr;
    if (cage == nullptr || cage->twins.size() < 2) continue;
    const double cable = ComputeWirePayload(hardware->cage_gbps, cluster.fabric.mtu);
    const double link = ComputePciePayload(*hardware);
    if (link >= cable) continue;
    diagnostics.push_back(
        {.code = "fabric-one-twin",
         .message = fmt::format("one twin of each cage is used: its PCIe link carries at most "
                                "{:.0f} Gb/s; with both twins a cable carries {:.0f}",
                                link, std::min(cable, 2 * link)),
         .next_step = "write `twins: both` with a subnet for each twin",
         .where = cluster.Mark(cluster.fabric.twins_position)});
    return;
  }
}

void DiagnoseLinkLocal(const ClusterSpec& cluster, const Fabric& fabric, Diagnostics& diagnostics) {
  const Value* link_local = FindLinkLocal(cluster);
  if (link_local == nullptr) return;
  for (const Segment& segment : fabric.segments) {
    if (!IsLinkLocal(segment)) continue;
    diagnostics.push_back(
        {.code = "fabric-link-local",
         .message =
             fmt::format("{} has link-local addresses, which the nodes choose: no host name, "
                         "login of ssh.mesh or hostfile leads over it",
                         FormatRailName(segment.rail)),
         .next_step = "for addresses that stay, give it a subnet and leave link_local out",
         .where = cluster.Mark(link_local->position)});
  }
}

bool IsSwitched(const ClusterSpec& cluster) {
  return cluster.fabric.topology == Topology::kSwitch ||
         cluster.fabric.topology == Topology::kLeafSpine;
}

void DiagnoseSwitches(const ClusterSpec& cluster, Diagnostics& diagnostics) {
  if (!IsSwitched(cluster)) return;
  std::vector<SwitchSpec> switches = cluster.switches;
  if (switches.empty()) switches.emplace_back();
  for (const SwitchSpec& one : switches) {
    diagnostics.push_back(
        {.code = "fabric-switch-advice",
         .message = fmt::format("{} must have (advice, nothing is sent to it): {}",
                                one.name.empty() ? "the switch" : "switch " + one.name,
                                Join(ListSwitchRequirements(cluster, one), "; "))});
  }
}

// More cables between different switches than a tree has.
void DiagnoseLoops(const Fabric& fabric, Diagnostics& diagnostics) {
  std::set<std::pair<std::string, std::string>> linked;
  std::set<std::string> switches;
  for (const Wire& wire : fabric.wires) {
    if (!wire.a.on_switch || !wire.b.on_switch) continue;
    linked.insert(std::minmax(wire.a.device, wire.b.device));
    switches.insert(wire.a.device);
    switches.insert(wire.b.device);
  }
  if (linked.size() < switches.size() || switches.empty()) return;
  diagnostics.push_back(
      {.code = "fabric-switch-loop",
       .message = "the switches are cabled in a loop: spanning tree turns some of these cables "
                  "off. What is said of their capacity holds only with MLAG, ECMP or the like"});
}

void DiagnoseOversubscription(const ClusterSpec& cluster, const Fabric& fabric,
                              Diagnostics& diagnostics) {
  for (const SwitchLoad& load : ComputeSwitchLoads(cluster, fabric)) {
    if (!load.Oversubscribed()) continue;
    diagnostics.push_back(
        {.code = "fabric-oversubscribed",
         .message = fmt::format(
             "switch {} is oversubscribed {:.1f}:1: its nodes exchange up to {:.0f} Gb/s with the "
             "others, and its cables to other switches carry {:.0f}",
             load.name, load.Ratio(), load.wanted_gbps, load.carried_gbps)});
  }
}

}  // namespace

std::vector<Diagnostic> DiagnoseFabric(const ClusterSpec& cluster, const Fabric& fabric) {
  Diagnostics diagnostics;
  DiagnoseRing(cluster, fabric, diagnostics);
  DiagnoseSecondCables(cluster, fabric, diagnostics);
  DiagnoseNodeCount(cluster, diagnostics);
  DiagnoseLonelyRails(fabric, diagnostics);
  DiagnoseOneTwin(cluster, diagnostics);
  DiagnoseSubnets(cluster, diagnostics);
  DiagnoseLinkLocal(cluster, fabric, diagnostics);
  DiagnoseOversubscription(cluster, fabric, diagnostics);
  DiagnoseLoops(fabric, diagnostics);
  DiagnoseSwitches(cluster, diagnostics);
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.where.file.empty()) diagnostic.where = cluster.Mark(cluster.fabric.position);
  }
  return diagnostics;
}

}  // namespace reconciler
