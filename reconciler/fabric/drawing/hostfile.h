#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

enum class HostfileKind { kOpenMpi, kMpich, kTorchrun };

// Where ranks run, one per node, in the order of the ring, by the addresses on `rail`, which must
// reach every node; nullptr: by management address. For torchrun, the command of each node.
std::string FormatHostfile(const ClusterSpec& cluster, const Fabric& fabric, HostfileKind kind,
                           const Segment* rail = nullptr);

// The same for a program: schema/hostfile.schema.json.
nlohmann::ordered_json HostfileToJson(const ClusterSpec& cluster, const Fabric& fabric,
                                      const Segment* rail = nullptr);

}  // namespace reconciler
