#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/common/gpu/gpu_section.h"
#include "reconciler/model/facts.h"

namespace reconciler::plugins {

// Whether the HCAs of a node can read its GPU's memory, as far as the facts show.
struct GpuReach {
  enum class Answer {
    kNo,         // the hardware, the driver or the kernel rule it out
    kYes,        // nothing is missing
    kUndecided,  // nothing rules it out, and nothing that could be read confirms it
    kUnknown,    // a fact could not be read
  };
  Answer answer = Answer::kUnknown;
  std::string why = {};     // stands in files: holds no version, which would change them
  std::string driver = {};  // "580.142"; empty: none
  std::vector<std::string> unread = {};  // what would decide, and only a program can read
};

// Why nvidia_peermem does not load on most kernels.
inline constexpr std::string_view kNoPeerSymbol =
    "the kernel has no ib_register_peer_memory_client, which only HCA drivers such as DOCA's bring";

// Through nvidia_peermem; `loads`: the manifest has it loaded, where it can be.
GpuReach JudgePeermemReach(const NodeFacts& facts, bool loads);
// Through dma-buf, which the open driver exports.
GpuReach JudgeDmabufReach(const NodeFacts& facts);

// By the manifest's mode: the way that it names, or any way.
GpuReach JudgeReach(const std::optional<GpuSection>& section, const NodeFacts& facts);

// Whether CUDA or the HCA could still decide it, or decide otherwise. It costs a program that
// is sent to the node, so that what files rule out is not queried: a Spark, most of all.
bool IsWorthQuerying(const std::optional<GpuSection>& section, const NodeFacts& facts);

// `why` with the driver's version.
std::string DescribeWithDriver(const GpuReach& reach);

}  // namespace reconciler::plugins
