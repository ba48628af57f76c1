#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reconciler/verify/nccl/evidence/summary.h"
#include "reconciler/verify/report/report.h"
#include "reconciler/verify/report/section.h"

namespace reconciler {

// All that was found out about NCCL on these nodes.
struct NcclEvidence {
  const ClusterSpec& cluster;
  const Fabric& fabric;  // with the HCAs' real names
  const RailFactsByNode& facts;
  const NcclRun& run;
  NcclMinimum minimum = {};
  std::vector<NodeName> firewalls = {};  // nodes whose firewall may drop what comes
  bool hca_is_degraded = false;          // the RDMA writes before found one
  std::set<NodeName> uncounted = {};     // whose counters did not show those writes HCA by HCA
  std::vector<PairVerdict> pairs = {};   // of a run that was not good
  std::string note = {};                 // what was run otherwise than requested
  std::uint64_t wanted_size = 0;   // bytes, where memory allowed less than verify.size; 0: all
  std::string first_attempt = {};  // not empty: why a first run was not good, and this one is
};

struct NcclJudgement {
  std::vector<Check> checks = {};
  std::vector<Finding> findings = {};
  NcclSummary summary = {};

  bool Failed() const;  // some check
};

NcclJudgement JudgeNccl(const NcclEvidence& evidence);

}  // namespace reconciler
