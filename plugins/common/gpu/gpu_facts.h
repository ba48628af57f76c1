#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/common/gpu/gpu_section.h"
#include "plugins/common/gpu/nvidia_driver.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

// What a node's files show about GPUDirect, for every plugin that needs it. No program of NVIDIA's
// is run and no library of theirs is loaded for it.
namespace reconciler::plugins {

// What the section's modules need besides nvidia_peermem. All plugins use this command, so that
// the node runs it once.
std::vector<Read> ListGpuReads(const std::optional<GpuSection>& section);
void StoreGpuFacts(const ProbeReply& reply, NodeFacts& facts);

// Absent: this kernel has none of that name.
Observed<ModuleState> FindModule(const NodeFacts& facts, const std::string& module);

// Loaded, or built in, which is as good.
bool IsModuleThere(const NodeFacts& facts, const std::string& module);

// Whether a fact is known to be no; not when nothing requires it.
bool IsKnownNo(const Fact<bool>& fact);

// All of it in one line, for whoever must believe it.
std::string FormatGpuEvidence(const NodeFacts& facts);

}  // namespace reconciler::plugins
