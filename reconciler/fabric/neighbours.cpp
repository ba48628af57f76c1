#include "reconciler/fabric/neighbours.h"

#include <algorithm>
#include <set>

namespace reconciler {
namespace {

// Rails of the segments that reach every node. A node has one port per segment at most.
std::set<int> SharedRails(const Fabric& fabric) {
  std::set<int> rails;
  for (const Segment& segment : fabric.segments) {
    if (segment.ports.size() == fabric.ports.size()) rails.insert(segment.rail);
  }
  return rails;
}

}  // namespace

std::vector<RailPort> CollectivePorts(const Fabric& fabric, const NodeName& node) {
  const auto found = fabric.ports.find(node);
  if (found == fabric.ports.end()) return {};
  std::vector<RailPort> ports = found->second;
  if (const std::set<int> shared = SharedRails(fabric); !shared.empty()) {
    std::erase_if(ports, [&](const RailPort& port) { return !shared.contains(port.rail); });
  }
  return ports;
}

bool CagesDiffer(const Fabric& fabric) {
  if (!SharedRails(fabric).empty()) return false;
  return std::any_of(fabric.ports.begin(), fabric.ports.end(), [](const auto& entry) {
    const std::vector<RailPort>& ports = entry.second;
    return std::any_of(ports.begin(), ports.end(),
                       [&](const RailPort& port) { return port.cage != ports.front().cage; });
  });
}

}  // namespace reconciler
