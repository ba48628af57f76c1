#pragma once

#include <string>
#include <string_view>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// Over which network the ranks of a job meet before they send data.
enum class Bootstrap { kManagement, kFabric };

// The manifest's `nccl.bootstrap`; management where it says nothing.
Bootstrap ReadBootstrap(const ClusterSpec& cluster);

// The first rail that reaches every node; nullptr: none does, as in a ring.
const Segment* FindCommonRail(const ClusterSpec& cluster, const Fabric& fabric);

// The first of those rails whose addresses are known before the nodes take some.
const Segment* FindBootstrapRail(const ClusterSpec& cluster, const Fabric& fabric);
// Why there is none.
std::string_view ExplainNoBootstrapRail(const ClusterSpec& cluster, const Fabric& fabric);

// The interface of a node over which its ranks meet.
struct BootstrapChoice {
  std::string netdev = {};    // empty: not known
  std::string wireless = {};  // has the management address, and is wireless; may be `netdev`
  // The node without a wired management network because of which all meet on the bootstrap rail.
  NodeName on_wifi = {};
  // The port of this node on that rail, where another node that was not read may be such a one.
  std::string if_on_wifi = {};
};

// On the fabric the node's port on the bootstrap rail; else the interface with the management
// address, or with that of our session. A wireless one is only taken where there is neither a wired
// interface in its subnet nor a bootstrap rail. Where one node has no wired one, all take the rail.
BootstrapChoice ChooseBootstrap(const ClusterSpec& cluster, const Fabric& fabric,
                                const NodeFacts& facts, const ClusterFacts& all);

}  // namespace reconciler
