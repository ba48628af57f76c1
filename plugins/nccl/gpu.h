#pragma once

#include <string>
#include <vector>

#include "plugins/nccl/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::nccl {

std::vector<Read> GpuProbe();
void StoreGpu(const ProbeReply& reply, NodeFacts& facts);

// Whether the adapters of a node can read its GPU's memory, as far as files tell. The GPU's own
// word (two attributes of the CUDA driver) takes a program on the node.
struct GpuReach {
  enum class Answer { kNo, kYes, kUntold, kUnknown };
  Answer answer = Answer::kUnknown;
  std::string why = {};     // stands in files: holds no version, which would change them
  std::string driver = {};  // "580.142"; empty: none
};
GpuReach ReachOf(const NodeFacts& facts);

// What the manifest's mode comes to. All ranks must agree, so that one node that cannot do it
// decides for all.
struct ModeDecision {
  bool direct = false;  // the adapter reads GPU memory
  std::string why = {};
  std::string blocked = {};  // not empty: not to be decided, or promised and not possible
};
ModeDecision DecideMode(const Section& section, const ClusterSpec& cluster, const NodeFacts& facts,
                        const ClusterFacts& all);

}  // namespace reconciler::plugins::nccl
