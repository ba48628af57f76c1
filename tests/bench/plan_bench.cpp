// Pure planning for N nodes: load, expand and MakePlan, without any node. The peak memory printed
// at the end is of the largest size.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <string>

#include "plugins/registry.h"
#include "reconciler/discovery/adopt.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/planning/adopt/find_adoptable.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {
namespace {

std::string Manifest(int nodes) {
  std::string text =
      "api_version: spark-reconcile/v1\ncluster: bench\naccess: {user: nvidia}\n"
      "fabric: {topology: switch, subnets: [10.1.0.0/16, 10.2.0.0/16]}\n"
      "sysctl: {net.core.rmem_max: 268435456}\nmemlock: unlimited\nnccl: {}\nnodes:\n";
  for (int i = 1; i <= nodes; ++i) {
    text +=
        fmt::format("  - {{name: spark-{}, address: 192.168.{}.{}}}\n", i, i / 250, i % 250 + 1);
  }
  return text;
}

NodeFacts BareNode(const NodeName& name) {
  NodeFacts facts;
  facts.node = name;
  facts.session.address = "192.168.0.1";
  facts.session.interface = "enP7s7";
  for (const char* netdev :
       {"enP7s7", "enp1s0f0np0", "enp1s0f1np1", "enP2p1s0f0np0", "enP2p1s0f1np1"}) {
    facts.links[netdev] = {
        .mtu = 1500, .admin_up = true, .carrier = true, .manager = LinkManager::kNetworkd};
  }
  facts.files["/etc/hosts"] = FileState{"127.0.0.1 localhost\n"};
  for (const char* path :
       {"/etc/netplan/60-spark-reconcile.yaml", "/etc/sysctl.d/60-spark-reconcile.conf",
        "/etc/NetworkManager/conf.d/60-spark-reconcile.conf",
        "/etc/security/limits.d/60-spark-reconcile.conf",
        "/etc/systemd/system.conf.d/60-spark-reconcile.conf",
        "/etc/systemd/user.conf.d/60-spark-reconcile.conf",
        "/etc/profile.d/60-spark-reconcile-nccl.sh", "/etc/spark-reconcile/nccl.env"}) {
    facts.files[path] = Absent{};
  }
  facts.network.links = 5;
  facts.network.default_route = std::vector<std::string>{"enP7s7"};
  facts.network.routes = std::vector<RouteFact>{{*ParseIpv4Prefix("192.168.0.0/16"), "enP7s7"}};
  facts.rdma.users = Absent{};
  facts.nccl.library =
      NcclLibrary{.path = "/usr/lib/aarch64-linux-gnu/libnccl.so.2",
                  .version = "2.30.7",
                  .names = {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_NET_GDR_LEVEL"}};
  facts.gpudirect.driver = Absent{};
  facts.gpudirect.gpu = Absent{};
  facts.nccl.settings =
      std::vector<NcclSetting>{{"/etc/environment", 1, "NCCL_IB_QPS_PER_CONNECTION", "4"}};
  return facts;
}

void LoadAndPlan(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  const std::string text = Manifest(nodes);
  ClusterFacts facts;
  std::size_t changes = 0;
  for (auto _ : state) {
    const auto cluster = LoadClusterSpec(text, "cluster.yaml");
    if (!cluster) return state.SkipWithError(FormatErrors(cluster.error()).c_str());
    const auto fabric = ExpandFabric(*cluster);
    if (!fabric) return state.SkipWithError(FormatErrors(fabric.error()).c_str());
    if (facts.nodes.empty()) {
      for (const NodeSpec& node : cluster->nodes) facts.nodes[node.name] = BareNode(node.name);
    }
    const auto plan = MakePlan(*cluster, *fabric, facts, plugins::GetAll());
    if (!plan) return state.SkipWithError(FormatError(plan.error()).c_str());
    changes = plan->ChangeCount();
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["changes"] = static_cast<double>(changes);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(LoadAndPlan)->Arg(8)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

// Every node has two netplan files of others: one under the same name everywhere, and one under a
// name of its own, as NetworkManager writes them.
void PlanAndOfferToAdopt(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  const auto cluster = LoadClusterSpec(Manifest(nodes), "cluster.yaml");
  if (!cluster) return state.SkipWithError(FormatErrors(cluster.error()).c_str());
  const auto fabric = ExpandFabric(*cluster);
  if (!fabric) return state.SkipWithError(FormatErrors(fabric.error()).c_str());
  ClusterFacts facts;
  for (const NodeSpec& node : cluster->nodes) {
    NodeFacts& one = facts.nodes[node.name] = BareNode(node.name);
    const std::string content = fmt::format(
        "network: {{ethernets: {{enp1s0f1np1: {{mtu: {}}}}}}}\n", 1500 + facts.nodes.size());
    for (const std::string& name : {std::string("99-nvidia-sync-cluster"), "90-NM-" + node.name}) {
      one.files["/etc/netplan/" + name + ".yaml"] = FileState{.content = content, .mode = 0600};
    }
  }
  std::size_t offers = 0;
  for (auto _ : state) {
    const auto plan = MakePlan(*cluster, *fabric, facts, plugins::GetAll());
    if (!plan) return state.SkipWithError(FormatError(plan.error()).c_str());
    const auto found = FindAdoptable(*cluster, *fabric, facts, plugins::GetAll());
    Discovery discovery;
    AddAdopt(found, discovery);
    AddObstacles(plan->diagnostics, discovery);
    offers = found.size();
  }
  state.counters["offers"] = static_cast<double>(offers);
}
BENCHMARK(PlanAndOfferToAdopt)->Arg(25)->Arg(50)->Arg(100)->Arg(200)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace reconciler

BENCHMARK_MAIN();
