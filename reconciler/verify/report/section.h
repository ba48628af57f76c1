#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/spark_verify/protocol/nccl_options.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// What the manifest requires of every collective at its largest size.
struct NcclMinimum {
  double busbw = 0;  // GB/s; 0: nothing
  SourceMark where = {};
};

// The manifest's `verify`.
struct VerifySection {
  VerifyLevel level = VerifyLevel::kNccl;
  bool automatic = true;  // level auto: up to what the nodes have
  bool skip_rdma = false;
  std::vector<spark_verify::Collective> collectives = {spark_verify::Collective::kAllReduce,
                                                       spark_verify::Collective::kAllGather};
  std::uint64_t size = std::uint64_t{1} << 30;  // bytes
  NcclMinimum minimum = {};
};

// Another level in place of the manifest's: "auto", "link", "rdma", "nccl". Before nodes are read,
// as what plugins read of them depends on it.
void SetVerifyLevel(ClusterSpec& cluster, const std::string& level);

VerifySection ReadVerifySection(const ClusterSpec& cluster);

// What a level of the manifest and of the command line goes up to: "auto", "link", "rdma", "nccl".
VerifyLevel ParseLevel(std::string_view level);

// What cannot be, found before anything runs: a minimum that the links cannot reach, a collective
// that the cabling cannot carry.
Errors CheckVerifySection(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler
