#pragma once

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler::test {

inline NodeSpec Node(int id, std::string cage = "p1") {
  NodeSpec node;
  node.name = "spark-" + std::to_string(id);
  node.id = id;
  node.cage = std::move(cage);
  return node;
}

// Subnets 10.0.0.0/24, 10.0.1.0/24 …, as lines 1, 2 … of the manifest.
inline ClusterSpec Cluster(Topology topology, std::vector<NodeSpec> nodes, int subnets) {
  ClusterSpec cluster;
  cluster.nodes = std::move(nodes);
  cluster.fabric.topology = topology;
  for (int i = 0; i < subnets; ++i) {
    cluster.fabric.subnets.push_back({{0x0A000000u + (static_cast<std::uint32_t>(i) << 8)}, 24});
    cluster.fabric.subnet_positions.push_back({i + 1, 1});
  }
  return cluster;
}

}  // namespace reconciler::test
