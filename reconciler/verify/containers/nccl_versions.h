#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// The libnccl of a container.
struct ContainerNccl {
  std::string version = {};      // "2.28.9"
  bool pairs_by_subnet = false;  // knows kSubnetAware
};

// Which libnccl containers of the node should have where this one is too old: for the cables, or
// beside the one that programs on the node load, which is what verify measures with. Empty: it is
// not, or nothing is known.
std::string FindWantedNccl(const Fabric& fabric, const NodeFacts& facts,
                           const ContainerNccl& found);

// The nodes whose containers load a version of NCCL, by that version.
using NodesByNccl = std::map<std::string, std::vector<NodeName>>;

// "NCCL 2.27.7 on spark-1, spark-3; 2.28.9 on spark-2"
std::string FormatNodesByNccl(const NodesByNccl& nodes);

}  // namespace reconciler
