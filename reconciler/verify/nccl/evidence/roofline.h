#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/spark_verify/protocol/messages.h"

namespace reconciler {

// What bounds one rail's speed, as its node's drivers report it.
struct RailFacts {
  spark_verify::Limits limits = {};
  int active_mtu = 0;  // bytes; 0: not reported
};

// By node and HCA; an HCA that is not there was not read.
using RailFactsByNode = std::map<NodeName, std::map<std::string, RailFacts>>;

// Bus bandwidth in GB/s that cannot be passed.
struct NcclRoofline {
  double ring = 0;  // by one ring through all nodes: each step takes the cables of that step
  double most = 0;  // by anything: all cables and all PCIe links of a node at once
  bool operator==(const NcclRoofline&) const = default;
};

// Of the nodes in rank order, by cabling and hardware profiles alone. Zeros where some step of the
// ring has no common rail.
NcclRoofline ComputePlannedRoofline(const ClusterSpec& cluster, const Fabric& fabric,
                                    const std::vector<NodeName>& ranks);

// The same with the links' real speeds, PCIe lanes and MTUs. NCCL gives every rail the same share,
// so that a node's slowest PCIe link counts for all of its rails. nullopt: some rail that takes
// part does not report its link's speed.
std::optional<NcclRoofline> ComputeMeasuredRoofline(const ClusterSpec& cluster,
                                                    const Fabric& fabric,
                                                    const std::vector<NodeName>& ranks,
                                                    const RailFactsByNode& facts);

// Likewise of alltoall, whose data go from every node to every other: at most that of the ring, and
// less where they share the cables between switches. 0: unknown.
double ComputeMeasuredAllToAll(const ClusterSpec& cluster, const Fabric& fabric,
                               const std::vector<NodeName>& ranks, const RailFactsByNode& facts);

// The share of the roofline that NCCL reaches at this size (bytes), by what Sparks were measured
// at: a ring needs large sizes to fill its links. nullopt: too small to say anything of a link.
std::optional<double> FindSizeFactor(std::uint64_t bytes);

}  // namespace reconciler
