#pragma once

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/verify/rdma/run.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// Adds what data written over every rail has shown to a report of the rungs below. A rail that a
// rung below found at fault is not measured, and what it explains is no finding of its own.
void ClimbRdma(Report& report, const ClusterSpec& cluster, const Fabric& fabric,
               const ClusterFacts& facts, NodePool& pool, const RdmaOptions& options);

// Joins the findings of this rung to those of the rungs below: the same cause of the same nodes is
// one. What differs between the two ends of a slow rail is evidence.
void AddRdma(Report& report, RdmaJudgement judged, const ClusterFacts& facts);

}  // namespace reconciler
