#pragma once

#include <string>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// `verify.level: auto`: how far verify goes on these nodes, by their facts.
struct AutoLevel {
  VerifyLevel level = VerifyLevel::kNccl;
  std::string why = {};  // not empty: why no data is written
};

// Up to the links where a node that was read has no RDMA device, or where a program holds queue
// pairs on a port of the fabric; otherwise up to NCCL, which finds out whether it can run.
AutoLevel FindAutoLevel(const ClusterSpec& cluster, const Fabric& fabric,
                        const ClusterFacts& facts);

// With level auto, what a node lacks or is using is no fault: findings that say only that the level
// could not begin are taken out of the report, their checks are skipped, and the report says why.
void AcceptNotBegun(Report& report, VerifyLevel level);

}  // namespace reconciler
