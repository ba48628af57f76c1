#include "reconciler/fabric/beacon.h"

#include <fmt/format.h>

#include <iterator>

#include "reconciler/base/digest.h"
#include "reconciler/base/number.h"
#include "reconciler/model/find.h"

namespace reconciler {
namespace {

// "fd12:3456:789a:1::2": a unique local prefix (RFC 4193) from the apply's id, the rail and the
// node's place among those applied.
std::string ComputeBeaconAddress(const std::string& digest, int rail, std::size_t place) {
  const auto group = [&](std::size_t at) {  // as the kernel prints it, without leading zeros
    return ParseNumber<unsigned>(digest.substr(at, 4), 16).value_or(0);
  };
  return fmt::format("fd{}:{:x}:{:x}:{:x}::{:x}", digest.substr(0, 2), group(2), group(6), rail + 1,
                     place + 1);
}

}  // namespace

Peers ListPeers(const Fabric& fabric, const NodeName& node, const std::set<NodeName>& applied,
                std::string_view apply_id) {
  const std::string digest = ComputeSha256Hex(apply_id);
  const auto place = [&](const NodeName& name) {
    return static_cast<std::size_t>(std::distance(applied.begin(), applied.find(name)));
  };
  Peers peers;
  std::set<NodeName> met = {node};
  for (const Segment& segment : fabric.segments) {
    const RailPort* own = FindPort(segment, node);
    if (own == nullptr) continue;
    std::string lines;
    for (const RailPort& port : segment.ports) {
      if (port.node == node || !applied.contains(port.node)) continue;
      met.insert(port.node);
      peers.paths.push_back({port.node, own->netdev});
      lines += fmt::format("peer {} {} {}\n", own->netdev,
                           ComputeBeaconAddress(digest, segment.rail, place(port.node)), port.node);
    }
    if (lines.empty()) continue;
    peers.text += fmt::format("own {} {}/64\n", own->netdev,
                              ComputeBeaconAddress(digest, segment.rail, place(node))) +
                  lines;
  }
  if (met.size() < applied.size()) peers.rounds = static_cast<int>(applied.size());
  return peers;
}

}  // namespace reconciler
