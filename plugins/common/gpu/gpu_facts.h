#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/common/gpu/gpu_section.h"
#include "plugins/common/gpu/nvidia_driver.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

// What a node's files tell about GPUDirect, for every plugin that asks. No program of NVIDIA's is
// run and no library of theirs is loaded for it.
namespace reconciler::plugins {

inline constexpr const char* kGpuModelKey = "gpudirect.gpu";         // "NVIDIA GB10"
inline constexpr const char* kPeerSymbolKey = "gpudirect.symbol";    // "yes", "no" or "not asked"
inline constexpr const char* kKernelDmabufKey = "gpudirect.dmabuf";  // "yes" or "no"
inline constexpr const char* kKernelP2pKey = "gpudirect.p2pdma";     // "yes" or "no"

// Only spark-verify on the node can ask for these three. Where it did not, they are not there;
// Absent: it found nothing to ask.
inline constexpr const char* kCudaRdmaKey = "gpudirect.cuda_rdma";      // attribute 116: "1" or "0"
inline constexpr const char* kCudaDmabufKey = "gpudirect.cuda_dmabuf";  // attribute 124: "1" or "0"
inline constexpr const char* kNicDmabufKey = "gpudirect.nic_dmabuf";  // "supported", "unsupported"

// What the section's modules need besides nvidia_peermem. All plugins ask in these words, so that
// the node is asked once.
std::vector<Read> ListGpuReads(const std::optional<GpuSection>& section);
void StoreGpuFacts(const ProbeReply& reply, NodeFacts& facts);

// "loaded", "built in" or "available"; Absent: this kernel has none of that name.
Observed<std::string> FindModule(const NodeFacts& facts, const std::string& module);

// Loaded, or built in, which is as good.
bool IsModuleThere(const NodeFacts& facts, const std::string& module);

// A fact's text; empty when it is not known.
std::string FindKnownText(const NodeFacts& facts, const std::string& key);

// All of it in one line, for whoever must believe it.
std::string FormatGpuEvidence(const NodeFacts& facts);

}  // namespace reconciler::plugins
