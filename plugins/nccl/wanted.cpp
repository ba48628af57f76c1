#include "plugins/nccl/wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plugins/nccl/gpu.h"
#include "plugins/nccl/library.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr std::string_view kAdapterFolder = "/sys/class/infiniband/";
constexpr std::string_view kAdapterKey = "nccl.adapter.";  // and the netdev
constexpr int kDefaultPrefixLength = 24;                   // of NCCL_IB_SUBNET_PREFIX_LEN

tl::unexpected<Error> CannotTell(std::string why) {
  return Fail({.kind = ErrorKind::kProbe, .message = std::move(why)});
}

// The netdev that bootstrap goes over: the one with the management address, which every node
// reaches, or else the one of this session.
std::string BootstrapNetdev(const NodeSpec& node, const NodeFacts& facts) {
  if (const auto management = ParseIpv4(node.address)) {
    for (const auto& [netdev, link] : facts.links) {
      for (const Ipv4Prefix& prefix : link.ipv4) {
        if (prefix.address == *management && netdev != "lo") return netdev;
      }
    }
  }
  return facts.session_interface;
}

std::string AdapterOf(const RailPort& port, const NodeFacts& facts) {
  const Observed<std::string> named = ValueOf(facts, std::string(kAdapterKey) + port.netdev);
  return Known(named) != nullptr ? *Known(named) : port.hca;
}

// The one length of all subnets; 0 when they differ.
int PrefixLength(const Fabric& fabric) {
  std::set<int> lengths;
  for (const Segment& segment : fabric.segments) lengths.insert(segment.subnet.length);
  return lengths.size() == 1 ? *lengths.begin() : 0;
}

// What NCCL needs where each cable leads to another neighbour.
Result<void> AddCables(const PluginInput& input, Environment& environment) {
  environment.push_back(
      {"NCCL_IB_MERGE_NICS", "0",
       "each cage leads to another neighbour: fused into one device, both would fit neither"});
  environment.push_back(
      {"NCCL_NET_PLUGIN", "none",
       "the choice by subnet is part of NCCL's own transport, not of a plugin's"});
  const Observed<Library> library = LibraryOf(input.facts);
  if (const auto* unknown = std::get_if<Unknown>(&library)) {
    return CannotTell("cannot tell what libnccl knows: " + unknown->why);
  }
  if (const auto* known = Known(library); known && !known->Knows(std::string(kSubnetAware))) {
    return {};  // ignored there; a finding says that the ring needs another library
  }
  environment.push_back({std::string(kSubnetAware), "1",
                         "pairs the two adapters of one cable, by their subnet; from NCCL 2.30.7"});
  const int length = PrefixLength(input.fabric);
  if (length != 0 && length != kDefaultPrefixLength) {
    environment.push_back({"NCCL_IB_SUBNET_PREFIX_LEN", fmt::format("{}", length),
                           "the length of the fabric's subnets, by which they are told apart"});
  }
  return {};
}

// A ring of four or more: not every two nodes share a cable, so that only rings may be built.
void AddRingOnly(Environment& environment) {
  environment.push_back({"NCCL_ALGO", "Ring",
                         "ring: collectives-only; a tree or a chain would join nodes that share no "
                         "cable"});
  environment.push_back(
      {"NCCL_CUMEM_ENABLE", "1",
       "connections are made when they are first needed, so that none is tried across the ring"});
}

void AddManifest(const Section& section, Environment& environment) {
  for (const ManifestVariable& variable : section.env) {
    std::erase_if(environment, [&](const auto& one) { return one.name == variable.name; });
    environment.push_back({variable.name, variable.value, "asked for by the manifest"});
  }
}

}  // namespace

ReadValues AdapterProbe() { return {std::string(kAdapterFolder) + "*/ports/1/gid_attrs/ndevs/0"}; }

void StoreAdapters(const ProbeReply& reply, NodeFacts& facts) {
  for (const auto& [path, netdev] : reply.values) {
    if (!path.starts_with(kAdapterFolder) || !path.ends_with("/gid_attrs/ndevs/0")) continue;
    const std::string adapter = path.substr(
        kAdapterFolder.size(), path.find('/', kAdapterFolder.size()) - kAdapterFolder.size());
    if (const auto* name = Known(netdev); name != nullptr && IsPlainValue(adapter)) {
      facts.values[std::string(kAdapterKey) + Printable(*name)] = adapter;
    }
  }
}

Result<Environment> WantedEnvironment(const Section& section, const PluginInput& input) {
  Environment environment;
  std::vector<std::string> adapters;
  for (const RailPort& port : CollectivePorts(input.fabric, input.node.name)) {
    adapters.push_back(AdapterOf(port, input.facts));
  }
  environment.push_back({"NCCL_IB_HCA", "=" + Join(adapters, ","),
                         "the adapters that have a cable; '=' because names match by prefix"});
  const std::string bootstrap = BootstrapNetdev(input.node, input.facts);
  if (section.FindVariable("NCCL_SOCKET_IFNAME") == nullptr) {
    if (bootstrap.empty() || !IsPlainValue(bootstrap)) {
      return CannotTell(fmt::format(
          "cannot tell which interface the other nodes reach: none holds '{}': write the node's "
          "IPv4 address there, or NCCL_SOCKET_IFNAME into nccl.env",
          input.node.address));
    }
    environment.push_back({"NCCL_SOCKET_IFNAME", "=" + bootstrap,
                           "bootstrap only, over the network that reaches every node"});
    environment.push_back({"GLOO_SOCKET_IFNAME", bootstrap, "PyTorch's control traffic, likewise"});
    environment.push_back({"TP_SOCKET_IFNAME", bootstrap, "PyTorch's RPC, likewise"});
  }
  const ModeDecision mode = DecideMode(section, input.cluster, input.facts, input.all);
  if (!mode.blocked.empty()) return CannotTell(mode.blocked);
  environment.push_back({"NCCL_NET_GDR_LEVEL", mode.direct ? "SYS" : "LOC", mode.why});
  if (CagesDiffer(input.fabric)) {
    if (auto added = AddCables(input, environment); !added) return tl::unexpected(added.error());
  }
  if (input.cluster.fabric.ring_collectives_only) AddRingOnly(environment);
  if (section.gid_index) {
    environment.push_back({"NCCL_IB_GID_INDEX", fmt::format("{}", *section.gid_index),
                           "asked for by the manifest; NCCL would find it for each adapter"});
  }
  AddManifest(section, environment);
  return environment;
}

}  // namespace reconciler::plugins::nccl
