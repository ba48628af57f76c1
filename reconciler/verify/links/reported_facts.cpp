#include "reconciler/verify/links/reported_facts.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

void AddFact(ReportedFacts& facts, const std::string& name, const std::string& value) {
  if (!value.empty()) facts[MakePrintable(name)] = MakePrintable(value);
}

void AddVersions(const NodeFacts& node, ReportedFacts& facts) {
  if (const HostFact* host = Known(node.host)) {
    AddFact(facts, "kernel", host->kernel);
    AddFact(facts, "operating system", host->os);
    AddFact(facts, "product", host->product);
  }
  if (const NvidiaDriver* driver = Known(node.gpudirect.driver)) {
    AddFact(facts, "NVIDIA driver", driver->version);
  }
  if (const NcclLibrary* library = Known(node.nccl.library)) {
    AddFact(facts, "libnccl", library->version);
  }
  for (const auto& [name, hca] : node.hcas) AddFact(facts, "firmware of " + name, hca.firmware);
}

void AddPort(const RailPort& port, const NodeFacts& node, ReportedFacts& facts) {
  const auto link = node.links.find(port.netdev);
  if (link == node.links.end()) return;
  if (link->second.speed_mbps > 0) {
    AddFact(facts, "rate of " + port.netdev,
            fmt::format("{:g} Gb/s", link->second.speed_mbps / 1e3));
  }
  if (link->second.mtu > 0) {
    AddFact(facts, "mtu of " + port.netdev, std::to_string(link->second.mtu));
  }
}

}  // namespace

std::map<NodeName, ReportedFacts> ListReportedFacts(const Fabric& fabric,
                                                    const ClusterFacts& facts) {
  std::map<NodeName, ReportedFacts> reported;
  for (const auto& [name, node] : facts.nodes) {
    ReportedFacts own;
    AddVersions(node, own);
    const auto ports = fabric.ports.find(name);
    if (ports != fabric.ports.end()) {
      for (const RailPort& port : ports->second) AddPort(port, node, own);
    }
    if (!own.empty()) reported[name] = std::move(own);
  }
  return reported;
}

}  // namespace reconciler
