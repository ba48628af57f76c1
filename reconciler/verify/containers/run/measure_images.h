#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// What `docker run` on the node should get, one flag a line. Null: nothing.
using ImageFlags = std::function<Result<std::string>(const NodeSpec&)>;

// Starts a container of each image of the manifest's `checks` on its nodes, and judges what it has.
// Images of a node in `unreachable` could not be measured. Empty where the manifest has none.
std::vector<Check> MeasureImages(const ClusterSpec& cluster, const Fabric& fabric,
                                 const ClusterFacts& facts, NodePool& pool, const ImageFlags& flags,
                                 const std::map<NodeName, std::string>& unreachable);

}  // namespace reconciler
