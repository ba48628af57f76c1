#pragma once

#include <string>

#include "plugins/nccl/section.h"
#include "reconciler/model/facts.h"

namespace reconciler::plugins::nccl {

// Whether mode auto or dmabuf hangs on what only spark-verify can read.
bool NeedsSparkVerify(const ClusterSpec& cluster, const NodeFacts& facts);

// What the manifest's mode comes to. All ranks must agree, so that one node that cannot do it
// decides for all.
struct ModeDecision {
  bool direct = false;  // the HCA reads GPU memory
  std::string why = {};
  std::string blocked = {};  // not empty: not to be decided, or promised and not possible
};
ModeDecision DecideMode(const Section& section, const ClusterSpec& cluster, const NodeFacts& facts,
                        const ClusterFacts& all);

}  // namespace reconciler::plugins::nccl
