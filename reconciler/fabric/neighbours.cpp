#include "reconciler/fabric/neighbours.h"

#include <algorithm>
#include <iterator>
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

// Those on the rails of `shared`, or all where there is none.
bool AreOfTwoCages(const std::vector<RailPort>& ports, const std::set<int>& shared) {
  const RailPort* first = nullptr;
  for (const RailPort& port : ports) {
    if (!shared.empty() && !shared.contains(port.rail)) continue;
    if (first == nullptr) first = &port;
    if (port.cage != first->cage) return true;
  }
  return false;
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
  return std::any_of(fabric.ports.begin(), fabric.ports.end(),
                     [&](const auto& entry) { return AreOfTwoCages(entry.second, shared); });
}

bool UsesTwoCages(const Fabric& fabric) {
  const std::set<int> shared = ListSharedRails(fabric);
  const auto uses_two = [&](const auto& entry) { return AreOfTwoCages(entry.second, shared); };
  // Then all nodes use the same cages.
  const bool alike = !shared.empty() && !CablesCross(fabric, shared);
  const auto end = alike ? std::next(fabric.ports.begin()) : fabric.ports.end();
  return std::any_of(fabric.ports.begin(), end, uses_two);
}

}  // namespace reconciler
