#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/fabric.h"

namespace reconciler {

// How a node that is ready to commit shows, without a controller and without a login, which of its
// peers are ready too: each shows an IPv6 address of this apply's own on its fabric ports, from its
// intent until its decision is known to all. An address answers or does not; a ping at the new
// configuration alone could not determine new from old where only a sysctl changed.
struct Peers {
  struct Path {
    NodeName peer = {};
    std::string netdev = {};  // of the node itself
    auto operator<=>(const Path&) const = default;
  };
  std::string text = {};  // the node's file: "own IFACE ADDRESS/64" and "peer IFACE ADDRESS NODE"
                          // lines
  std::vector<Path> paths = {};
  // How often all must answer: a node that falls back makes its neighbour fall back in the next
  // round, so that a chain of cables needs as many as it has nodes.
  int rounds = 1;
};

// The peers of `node` among `applied`, the nodes that this apply changes: those that share a
// segment with it. A node without any can decide nothing on its own and falls back.
Peers ListPeers(const Fabric& fabric, const NodeName& node, const std::set<NodeName>& applied,
                std::string_view apply_id);

}  // namespace reconciler
