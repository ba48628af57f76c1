#pragma once

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

// A script that builds the tag, its build for the node's GPU, and a file by which the loader finds
// that before any other libnccl. The build takes minutes on a Spark.
std::vector<Resource> ListBuildResources(const NcclSource& source, const SourceMark& where,
                                         const PluginInput& input);

}  // namespace reconciler::plugins::nccl
