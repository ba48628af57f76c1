#pragma once

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// Two nodes and the rails that both are on; none: they cannot communicate over the fabric.
struct PairReach {
  NodeName a = {};
  NodeName b = {};
  std::vector<int> rails = {};
  double gbps = 0;  // at best, all rails at once, one direction; payload
};

// One switch's nodes against the rest of the cluster, one direction; payload in Gb/s.
struct SwitchLoad {
  std::string name = {};
  double wanted_gbps = 0;   // what its nodes can send, or the others receive, whichever is less
  double carried_gbps = 0;  // what the cables between the switches let through (max-flow)

  double Ratio() const { return carried_gbps > 0 ? wanted_gbps / carried_gbps : 0; }
  bool Oversubscribed() const { return wanted_gbps > carried_gbps * 1.001; }
};

// A switch or cable without which some nodes no longer reach others over the fabric.
struct WeakPoint {
  std::string what = {};               // "switch leaf-1", "cable spark-1.p0–spark-2.p1"
  std::vector<NodeName> cut_off = {};  // in the manifest's order
  bool own_cable = false;              // the one cable of the one node that it cuts off
};

// What follows from the cabling, at best: upper bounds, before anything was measured.
std::vector<PairReach> ComputeReach(const ClusterSpec& cluster, const Fabric& fabric);
std::vector<SwitchLoad> ComputeSwitchLoads(const ClusterSpec& cluster, const Fabric& fabric);
std::vector<WeakPoint> FindWeakPoints(const ClusterSpec& cluster, const Fabric& fabric);

// The nodes in an order in which each reaches the next over the fewest switches, and the last the
// first: ranks in that order cross each cable between switches once. By id on one switch.
std::vector<NodeName> OrderRing(const ClusterSpec& cluster, const Fabric& fabric);

// What a ring collective of all nodes can carry, in Gb/s of payload: the slowest step of the ring.
// 0: some step has no common rail.
double ComputeRingPayload(const std::vector<NodeName>& order, const std::vector<PairReach>& reach);

// What each of these nodes can send, in Gb/s of payload, while all send the same to all others: as
// in a ring, or less where switches are cabled to each other. Data of all pairs of nodes on both
// sides meet there, and a ring crosses once each way.
double ComputeAllToAllPayload(const ClusterSpec& cluster, const Fabric& fabric,
                              const std::vector<NodeName>& order);

}  // namespace reconciler
