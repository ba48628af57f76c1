#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/node/node_pool.h"

namespace reconciler {

// Reads RDMA devices by verbs on those nodes (those of them that were read) by a spark-verify that
// is copied there for it, from the folder `programs`, and removed again. Fills HcaFact::verbs,
// RdmaFacts::verbs and, of GpuFacts, what CUDA and the HCA say. Absent: there was nothing to query.
void AddVerbsFacts(ClusterFacts& facts, const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                   const std::string& programs);

}  // namespace reconciler
