#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "reconciler/spark_verify/protocol/nccl_options.h"
#include "reconciler/verify/nccl/judge/judge.h"
#include "reconciler/verify/report/section.h"

namespace reconciler {

// One run of NCCL over those nodes, rank 0 first. Called by several threads at a time, for nodes of
// which none is in two of the runs.
using RunRanks =
    std::function<NcclRun(const std::vector<NodeName>&, const spark_verify::NcclOptions&)>;
// What all ranks of a run with that largest size (bytes) get.
using MakeOptions = std::function<spark_verify::NcclOptions(std::uint64_t size)>;

struct NcclAttempts {
  const ClusterSpec& cluster;
  const Fabric& fabric;  // with the HCAs' real names
  const RailFactsByNode& facts;
  const VerifySection& section;
  std::vector<NodeName> firewalls = {};  // see NcclEvidence
  bool hca_is_degraded = false;          // likewise
  std::set<NodeName> uncounted = {};     // likewise
  MakeOptions options = {};
  RunRanks run = {};
};

// Runs all nodes together and judges it. With too little memory for the size, a smaller one is
// taken. A run that is not good is made once more; when that one is not good either, every pair of
// nodes runs alone, so that the one at fault can be named.
NcclJudgement Attempt(const NcclAttempts& attempts);

}  // namespace reconciler
