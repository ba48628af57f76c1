#pragma once

#include "tests/unit/verify/sample.h"

namespace reconciler {

// A pair of healthy Sparks with all that node_health, port_use and known_bad look at, in values
// that owners published.
inline Sample HealthyPair() {
  Sample sample = OnSwitch(2);
  sample.cluster.settings = {};  // no memlock: what the login has is judged
  for (NodeSpec& node : sample.cluster.nodes) {
    NodeFacts& facts = sample.facts.nodes.at(node.name);
    facts.host = HostFact{.kernel = "6.17.0-1014-nvidia",
                          .product = "NVIDIA_DGX_Spark",
                          .vendor = "NVIDIA",
                          .bios = "5.36_0ACUM018"};
    facts.session = {.address = "192.168.1.2" + std::to_string(node.id), .interface = "enP7s7"};
    facts.network.default_route = std::vector<std::string>{"enP7s7"};
    facts.network.leases["enP7s7"] = {facts.session.address};
    facts.network.rp_filter = {{"all", 2}, {"enP7s7", 2}};
    facts.links["enP7s7"].ipv4 = {*ParseIpv4Prefix(facts.session.address + "/24")};
    facts.gpudirect.driver = NvidiaDriver{.open = true, .version = "580.142"};
    facts.rdma.cma = CmaMemory{65536, 60000};
    for (RailPort& port : sample.fabric.ports.at(node.name)) {
      port.hca = port.rail == 0 ? "rocep1s0f1" : "roceP2p1s0f1";
      facts.links.at(port.netdev).manager = LinkManager::kNetworkd;
      facts.network.carrier_downs[port.netdev] = 21;  // on a node that was well
      facts.hcas[port.hca] = {
          .netdev = port.netdev,
          .firmware = "28.45.4028",
          .link_layer = "Ethernet",
          .device = {port.rail == 0 ? "0000:01:00.1" : "0002:01:00.1", 32000, 4, 32000, 16},
          .iommu = "DMA-FQ"};
    }
    HealthFacts& health = facts.health;
    health.kernel_log = std::vector<KernelEvent>{
        {KernelEventKind::kFirewall, 5000,
         "[UFW BLOCK] IN=enP7s7 OUT= SRC=192.168.1.99 DST=192.168.1.21 PROTO=TCP DPT=445 SYN"},
        {KernelEventKind::kGpu, 4000, "NVRM: Xid (PCI:000f:01:00): 31, pid=4242, name=python3"},
        {KernelEventKind::kLinkDown, 600, "mlx5_core 0000:01:00.1 enp1s0f1np1: Link down"},
        {KernelEventKind::kLinkDown, 500, "mlx5_core 0000:01:00.1 enp1s0f1np1: Link down"}};
    health.firewall_rules_age_s = 90000;
    health.clock = 1790000000 + node.id * 30;
    health.wireless = std::vector<std::string>{"wlP9s9"};
    health.device_files =
        std::vector<DeviceFile>{{"/dev/infiniband/uverbs0", {0666}, "root", "root"},
                                {"/dev/infiniband/rdma_cm", {0666}, "root", "root"}};
    health.groups = std::set<std::string>{"nvidia", "sudo"};
    health.runtime_profiles = std::vector<RuntimeProfile>{};
    health.ifupdown = false;
    health.sensors = std::vector<Sensor>{{"acpitz", 52000, 95000}, {"mlx5 3", 61000, 105000}};
    health.throttled = std::vector<std::string>{};
    health.gpu_slowdowns = std::vector<std::string>{};
    health.available_kib = 110 << 20;
    health.swap_used_kib = 2 << 20;
    health.containers =
        std::vector<ContainerFact>{{"0123456789ab", true, {MemoryLimit::kUnlimited}}};
  }
  return sample;
}

// "code node: measured" and the same finding's evidence, of the warnings of one judge.
inline std::vector<std::string> DescribeFindings(const Sample& sample,
                                                 const std::vector<Check>& checks) {
  std::vector<std::string> texts;
  for (const Finding& finding : ListFindings(sample, checks)) {
    texts.push_back(
        fmt::format("{} {}: {}", finding.code, Join(finding.nodes, " "), finding.measured));
  }
  return texts;
}

}  // namespace reconciler
