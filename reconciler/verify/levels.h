#pragma once

#include <functional>
#include <string_view>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/verify/containers/run/measure_images.h"
#include "reconciler/verify/nccl/run/measure.h"
#include "reconciler/verify/rdma/run/run.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

struct VerifyOptions {
  VerifyLevel up_to = VerifyLevel::kSsh;
  bool automatic = false;      // up to that level at most, and up to what the nodes have
  RdmaOptions rdma = {};       // for VerifyLevel::kRdma
  VerifySection section = {};  // for VerifyLevel::kNccl
  NcclRunOptions nccl = {};    // likewise
  ImageFlags image_flags = {};
};

// Called once per node that was queried, when its answer is there: for one node at a time, from any
// thread. what: "measured", "gave no answer".
using VerifyProgress = std::function<void(const NodeName& node, std::string_view what)>;

// Runs the levels in order: facts, then jumbo pings and logins between all pairs, measured by one
// script per node, as many nodes at a time as the pool allows; then looks into the images of the
// manifest's `checks`, by another script on the nodes that have any, and names the causes. Up to
// kRdma, data is then written over every rail that the levels below found well; up to kNccl, all
// nodes run collectives. Changes nothing on any node. Ends in bounded time whatever the nodes do. A
// node in facts.unreachable is not queried again: what it would have measured could not be
// measured, and its peers are reported from their side.
Report Verify(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
              NodePool& pool, const VerifyOptions& options, const VerifyProgress& progress);

}  // namespace reconciler
