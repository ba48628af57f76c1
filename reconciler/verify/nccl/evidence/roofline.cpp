#include "reconciler/verify/nccl/evidence/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/neighbours.h"
#include "reconciler/fabric/roofline.h"

namespace reconciler {
namespace {

// All cables of a node at once, or all of its PCIe links; payload in Gb/s.
double ComputeNodePayload(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node) {
  const Hardware* hardware = cluster.FindHardware(node);
  const auto ports = fabric.ports.find(node.name);
  if (hardware == nullptr || ports == fabric.ports.end()) return 0;
  std::set<std::string> devices;
  for (const RailPort& port : ports->second) {
    const Cage* cage = hardware->FindCage(port.cage);
    if (cage == nullptr) continue;
    devices.insert(cage->twins[static_cast<std::size_t>(port.twin)].PciDevice());
  }
  double wires = 0;
  for (const Wire& wire : fabric.wires) {
    for (const PlugEnd* end : {&wire.a, &wire.b}) {
      if (!end->on_switch && end->device == node.name) {
        wires += ComputeWirePayload(wire.gbps, cluster.fabric.mtu);
      }
    }
  }
  return std::min(wires, ComputePciePayload(*hardware) * static_cast<double>(devices.size()));
}

// The worst of what takes part on one node.
struct Worst {
  int link_mbps = 0;
  int lanes = 0;
  int generation = 0;
  int mtu = 0;
};

// The first generation that is that fast (GT/s per lane); 0: not reported.
int FindPcieGeneration(double gts) {
  constexpr std::array<double, 6> kGigaTransfers = {2.5, 5, 8, 16, 32, 64};
  if (gts <= 0) return 0;
  int generation = 1;
  for (const double each : kGigaTransfers) {
    if (gts < each * 1.01) return generation;
    ++generation;
  }
  return 6;
}

void LowerTo(int& value, int other) {
  if (other > 0) value = value == 0 ? other : std::min(value, other);
}

std::optional<Worst> FindWorst(const Fabric& fabric, const NodeName& node,
                               const RailFactsByNode& facts) {
  const auto known = facts.find(node);
  if (known == facts.end()) return std::nullopt;
  Worst worst;
  for (const RailPort& port : ListCollectivePorts(fabric, node)) {
    const auto rail = known->second.find(port.hca);
    if (rail == known->second.end() || rail->second.limits.link_mbps <= 0) return std::nullopt;
    const spark_verify::Limits& limits = rail->second.limits;
    LowerTo(worst.link_mbps, limits.link_mbps);
    LowerTo(worst.lanes, limits.pcie_width);
    LowerTo(worst.generation, FindPcieGeneration(limits.pcie_gts));
    LowerTo(worst.mtu, rail->second.active_mtu);
  }
  return worst.link_mbps > 0 ? std::optional(worst) : std::nullopt;
}

// The node's profile with what its PCIe links really run at.
void LimitByHardware(const Worst& worst, NodeSpec& node, ClusterSpec& cluster) {
  const Hardware* profile = cluster.FindHardware(node);
  if (profile == nullptr) return;
  Hardware own = *profile;
  own.name = "measured on " + node.name;
  LowerTo(own.pcie_lanes, worst.lanes);
  LowerTo(own.pcie_generation, worst.generation);
  node.hardware = own.name;
  cluster.own_hardware[node.name] = std::move(own);
}

// The manifest's with what the links of the ranks were found at.
struct Links {
  ClusterSpec cluster;
  Fabric fabric;
};

std::optional<Links> FindLinks(const ClusterSpec& cluster, const Fabric& fabric,
                               const std::vector<NodeName>& ranks, const RailFactsByNode& facts) {
  Links links{cluster, fabric};
  for (const NodeName& name : ranks) {
    const auto worst = FindWorst(fabric, name, facts);
    if (!worst) return std::nullopt;
    for (NodeSpec& node : links.cluster.nodes) {
      if (node.name == name) LimitByHardware(*worst, node, links.cluster);
    }
    for (Wire& wire : links.fabric.wires) {
      const bool ours = (!wire.a.on_switch && wire.a.device == name) ||
                        (!wire.b.on_switch && wire.b.device == name);
      if (ours) LowerTo(wire.gbps, worst->link_mbps / 1000);
    }
    // An interface's MTU is what leaves that much to RDMA.
    constexpr int kHeaders = 96;
    constexpr int kLargestRdmaMtu = 4096;  // that there is; a node may report any number
    if (worst->mtu > 0) {
      LowerTo(links.cluster.fabric.mtu, std::min(worst->mtu, kLargestRdmaMtu) + kHeaders);
    }
  }
  return links;
}

}  // namespace

NcclRoofline ComputePlannedRoofline(const ClusterSpec& cluster, const Fabric& fabric,
                                    const std::vector<NodeName>& ranks) {
  NcclRoofline roofline;
  roofline.ring = ComputeBusBandwidth(ComputeRingPayload(ranks, ComputeReach(cluster, fabric)));
  if (roofline.ring <= 0) return {};
  for (const NodeName& name : ranks) {
    const NodeSpec* node = cluster.FindNode(name);
    const double node_most =
        node == nullptr ? 0 : ComputeBusBandwidth(ComputeNodePayload(cluster, fabric, *node));
    roofline.most = roofline.most == 0 ? node_most : std::min(roofline.most, node_most);
  }
  roofline.most = std::max(roofline.most, roofline.ring);
  return roofline;
}

std::optional<NcclRoofline> ComputeMeasuredRoofline(const ClusterSpec& cluster,
                                                    const Fabric& fabric,
                                                    const std::vector<NodeName>& ranks,
                                                    const RailFactsByNode& facts) {
  const auto links = FindLinks(cluster, fabric, ranks, facts);
  if (!links) return std::nullopt;
  const NcclRoofline roofline = ComputePlannedRoofline(links->cluster, links->fabric, ranks);
  return roofline.ring > 0 ? std::optional(roofline) : std::nullopt;
}

double ComputeMeasuredAllToAll(const ClusterSpec& cluster, const Fabric& fabric,
                               const std::vector<NodeName>& ranks, const RailFactsByNode& facts) {
  const auto links = FindLinks(cluster, fabric, ranks, facts);
  if (!links) return 0;
  return ComputeBusBandwidth(ComputeAllToAllPayload(links->cluster, links->fabric, ranks));
}

std::optional<double> FindSizeFactor(std::uint64_t bytes) {
  struct Step {
    double mebibytes;
    double factor;
  };
  constexpr std::array<Step, 5> kSteps = {
      {{32, 0.65}, {256, 0.75}, {1024, 0.80}, {4096, 0.93}, {16384, 0.95}}};
  const double size = static_cast<double>(bytes) / (1 << 20);
  if (size < kSteps.front().mebibytes) return std::nullopt;
  for (std::size_t i = 1; i < kSteps.size(); ++i) {
    const Step& low = kSteps[i - 1];
    const Step& high = kSteps[i];
    if (size > high.mebibytes) continue;
    const double part = std::log2(size / low.mebibytes) / std::log2(high.mebibytes / low.mebibytes);
    return low.factor + part * (high.factor - low.factor);
  }
  return kSteps.back().factor;
}

}  // namespace reconciler
