#pragma once

#include <string>

#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins {

// Containers that have a GPU. A reload of systemd sets the device rules of their scopes again, and
// the NVIDIA runtime's hook added the GPU behind systemd's back: NVML then says "Unknown Error"
// (github.com/NVIDIA/nvidia-container-toolkit/issues/48).
RunProbe MakeGpuContainerProbe();

void StoreGpuContainers(const ProbeReply& reply, NodeFacts& facts);

// What a reload of systemd ends, or may end where that is not known (Resource::interrupts); empty:
// nothing.
std::string ListCutOffByReload(const NodeFacts& facts);

// Says so in a change that reloads systemd.
void NameCutOffByReload(const NodeFacts& facts, Change& change);

}  // namespace reconciler::plugins
