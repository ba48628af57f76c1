#pragma once

#include <set>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/verify/rdma/run/run.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// Adds what data written over every rail has shown to a report of the levels below. A rail that a
// level below found at fault is not measured, and what it explains is no finding of its own.
// The answer: nodes whose counters do not show which HCA carried what.
std::set<NodeName> RunRdmaLevel(Report& report, const ClusterSpec& cluster, const Fabric& fabric,
                                const ClusterFacts& facts, NodePool& pool,
                                const RdmaOptions& options);

// Joins the findings of this level to those of the levels below (JoinFinding). What differs between
// the two ends of a slow rail is evidence.
void AddRdmaFindings(Report& report, RdmaJudgement judged, const ClusterFacts& facts);

}  // namespace reconciler
