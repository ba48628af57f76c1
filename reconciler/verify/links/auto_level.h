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

// With level auto, what a node lacks or is using is no fault: where nothing else was found on the
// level, findings about that are taken out of the report, their checks are skipped, and the report
// says why.
// `names_library`: the manifest names libnccl's file, so that it must be there.
void AcceptNotBegun(Report& report, VerifyLevel level, bool names_library);

}  // namespace reconciler
