#include "reconciler/fabric/drawing/hostfile.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reconciler/fabric/analysis.h"
#include "reconciler/model/find.h"

namespace reconciler {
namespace {

constexpr int kRendezvousPort = 29500;  // torchrun's own default

// An IPv6 address needs brackets before a port.
std::string BracketAddress(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

std::string FindAddress(const NodeSpec& node, const Segment* rail) {
  const RailPort* port = rail == nullptr ? nullptr : FindPort(*rail, node.name);
  return port == nullptr ? node.address : ToString(port->address.address);
}

}  // namespace

std::string FormatHostfile(const ClusterSpec& cluster, const Fabric& fabric, HostfileKind kind,
                           const Segment* rail) {
  const std::vector<NodeName> order = OrderRing(cluster, fabric);
  std::string text = fmt::format(
      "# {}: one rank per node, in the order of the ring; {}.\n", cluster.name,
      rail == nullptr ? "management addresses" : "addresses on " + FormatRailName(rail->rail));
  const std::string first =
      order.empty() ? "" : FindAddress(*cluster.FindNode(order.front()), rail);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const NodeSpec& node = *cluster.FindNode(order[rank]);
    const std::string address = FindAddress(node, rail);
    text += fmt::format("# rank {}: {}\n", rank, node.name);
    switch (kind) {
      case HostfileKind::kOpenMpi:
        text += fmt::format("{} slots=1\n", address);
        break;
      case HostfileKind::kMpich:
        text += fmt::format("{}:1\n", BracketAddress(address));
        break;
      case HostfileKind::kTorchrun:
        text += fmt::format(
            "torchrun --nnodes={} --nproc-per-node=1 --node-rank={} --rdzv-backend=static "
            "--rdzv-id={} --rdzv-endpoint={}:{}\n",
            order.size(), rank, cluster.name, BracketAddress(first), kRendezvousPort);
        break;
    }
  }
  return text;
}

nlohmann::ordered_json HostfileToJson(const ClusterSpec& cluster, const Fabric& fabric,
                                      const Segment* rail) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const NodeName& name : OrderRing(cluster, fabric)) {
    nodes.push_back({{"name", name},
                     {"rank", nodes.size()},
                     {"address", FindAddress(*cluster.FindNode(name), rail)},
                     {"slots", 1}});
  }
  nlohmann::ordered_json document = {{"format", "spark-reconcile/hostfile/1"},
                                     {"cluster", cluster.name},
                                     {"network", rail == nullptr ? "management" : "fabric"}};
  if (rail != nullptr) document["rail"] = rail->rail;
  document["nodes"] = std::move(nodes);
  return document;
}

}  // namespace reconciler
