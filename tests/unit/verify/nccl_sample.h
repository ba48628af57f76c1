#pragma once

#include "reconciler/fabric/expand.h"
#include "reconciler/verify/nccl/evidence/roofline.h"
#include "reconciler/verify/nccl/evidence/values.h"
#include "tests/support/clusters.h"

namespace reconciler::test {

inline constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

// A healthy cluster and a run of NCCL on it, which tests then spoil.
struct NcclScenario {
  ClusterSpec cluster = {};
  Fabric fabric = {};
  RailFactsByNode facts = {};
  NcclRun run = {};

  NcclRank& Rank(int node) { return run.ranks.at(static_cast<std::size_t>(node - 1)); }
  RailFacts& Rail(int node, const std::string& hca) {
    return facts.at("spark-" + std::to_string(node)).at(hca);
  }
};

inline std::string HealthyLog(const std::string& version = "2.28.9+cuda13.0") {
  return "n:1:1 [0] NCCL INFO NCCL version " + version + R"(
n:1:1 [0] NCCL INFO NET/IB : Using [0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE [RO]; OOB enP7s7:192.168.1.21<0>
n:1:1 [0] NCCL INFO Using network IB
n:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0
n:1:1 [0] NCCL INFO Channel 01/0 : 1[0] -> 0[0] [receive] via NET/IB/1
)";
}

// `busbw` in GB/s. The counters are those of a ring whose rails share alike.
inline spark_verify::NcclResult MakeResult(double busbw, std::uint64_t bytes, int ranks,
                                           const std::vector<RailPort>& ports) {
  const double factor = spark_verify::ComputeBusFactor(spark_verify::Collective::kAllReduce, ranks);
  spark_verify::NcclResult result{.bytes = bytes, .iterations = 10};
  result.time_us = static_cast<double>(bytes) * factor / busbw * 1e-3;
  result.p50_us = result.p95_us = result.time_us;
  for (const RailPort& port : ports) {
    const auto words =
        static_cast<std::uint64_t>(static_cast<double>(bytes) * factor * result.iterations / 4 /
                                   static_cast<double>(ports.size()));
    result.counters[port.hca] = {{"port_xmit_data", words}, {"port_rcv_data", words}};
  }
  return result;
}

// That HCA carried nothing in the rank's first test, or none did.
inline void StandStill(NcclRank& rank, const std::string& hca = "") {
  for (auto& [name, counters] : rank.results.at(0).counters) {
    if (!hca.empty() && name != hca) continue;
    for (auto& [counter, growth] : counters) growth = 0;
  }
}

inline NcclScenario HealthyNccl(int nodes, double busbw = 21.5) {
  NcclScenario scenario;
  std::vector<NodeSpec> all;
  for (int id = 1; id <= nodes; ++id) all.push_back(Node(id));
  scenario.cluster = Cluster(nodes == 2 ? Topology::kDirect : Topology::kSwitch, all, 2);
  scenario.fabric = *ExpandFabric(scenario.cluster);
  scenario.run.root = "192.168.1.21:43321";
  for (const NodeSpec& node : scenario.cluster.nodes) {
    const std::vector<RailPort>& ports = scenario.fabric.ports.at(node.name);
    for (const RailPort& port : ports) {
      scenario.facts[node.name][port.hca] = {
          .limits = {.link_mbps = 200'000, .pcie_width = 4, .pcie_max_width = 16, .pcie_gts = 32},
          .active_mtu = 4096};
    }
    NcclRank rank{.node = node.name, .fate = NcclFate::kFinished, .order = node.id};
    rank.hello = spark_verify::NcclHello{.rank = node.id - 1, .nccl_version = 22809};
    rank.log = HealthyLog();
    rank.results = {MakeResult(busbw, kGib, nodes, ports)};
    scenario.run.ranks.push_back(std::move(rank));
  }
  return scenario;
}

// The same four nodes, two on each of two switches with one cable of 200 Gb/s between them.
inline NcclScenario HealthyNcclOverAnUplink(double busbw = 21.5) {
  NcclScenario scenario = HealthyNccl(4, busbw);
  scenario.cluster.fabric.topology = Topology::kLeafSpine;
  scenario.cluster.switches = {
      {.name = "a", .ports = {{"swp1", {"spark-1", "p1"}}, {"swp2", {"spark-2", "p1"}}}},
      {.name = "b", .ports = {{"swp1", {"spark-3", "p1"}}, {"swp2", {"spark-4", "p1"}}}}};
  scenario.cluster.switches.front().uplinks = {{"up", {"b", "up"}}};
  scenario.fabric = *ExpandFabric(scenario.cluster);
  return scenario;
}

}  // namespace reconciler::test
