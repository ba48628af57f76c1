#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"
#include "reconciler/model/resource.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

inline constexpr std::string_view kNcclUrl = "https://github.com/NVIDIA/nccl.git";

// Of `nccl.library: build TAG [URL]`.
struct NcclSource {
  std::string tag = {};
  std::string url = std::string(kNcclUrl);
};

std::vector<Read> ListBuildReads();
// Fills NcclFacts::builds.
void StoreBuilds(const ProbeReply& reply, NodeFacts& facts);

// For the prune of an earlier build: it is set aside, so that a revert has it again at once, and
// blocked where what the manifest has built instead cannot be, or where that or the loader's file
// is blocked for another reason. `source`: of the manifest, if it has one.
void CheckBuildPrune(const std::optional<NcclSource>& source, const PluginInput& input,
                     Change& change);

// A script that builds the tag, its build for the node's GPU, and a file by which the loader finds
// that before any other libnccl. The build takes minutes on a Spark.
std::vector<Resource> ListBuildResources(const NcclSource& source, const SourceMark& where,
                                         const PluginInput& input);

}  // namespace reconciler::plugins::nccl
