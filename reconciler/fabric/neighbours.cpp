#include "reconciler/fabric/neighbours.h"

#include <algorithm>
#include <set>

namespace reconciler {
namespace {

// Rails of the segments that reach every node. A node has one port per segment at most.
std::set<int> ListSharedRails(const Fabric& fabric) {
  std::set<int> rails;
  for (const Segment& segment : fabric.segments) {
    if (segment.ports.size() == fabric.ports.size()) rails.insert(segment.rail);
  }
  return rails;
}

// Whether a rail that reaches every node ends in the left cage of one and in the right of another.
bool CablesCross(const Fabric& fabric, const std::set<int>& shared) {
  return std::any_of(fabric.segments.begin(), fabric.segments.end(), [&](const Segment& segment) {
    return shared.contains(segment.rail) &&
           std::any_of(segment.ports.begin(), segment.ports.end(), [&](const RailPort& port) {
             return port.cage != segment.ports.front().cage;
           });
  });
}

}  // namespace

std::vector<RailPort> ListCollectivePorts(const Fabric& fabric, const NodeName& node) {
  const auto found = fabric.ports.find(node);
  if (found == fabric.ports.end()) return {};
  std::vector<RailPort> ports = found->second;
  if (const std::set<int> shared = ListSharedRails(fabric); !shared.empty()) {
    std::erase_if(ports, [&](const RailPort& port) { return !shared.contains(port.rail); });
  }
  return ports;
}

bool CagesDiffer(const Fabric& fabric) {
  const std::set<int> shared = ListSharedRails(fabric);
  if (!shared.empty() && !CablesCross(fabric, shared)) return false;
  return std::any_of(fabric.ports.begin(), fabric.ports.end(), [&fabric](const auto& entry) {
    const std::vector<RailPort> ports = ListCollectivePorts(fabric, entry.first);
    return std::any_of(ports.begin(), ports.end(),
                       [&](const RailPort& port) { return port.cage != ports.front().cage; });
  });
}

}  // namespace reconciler
