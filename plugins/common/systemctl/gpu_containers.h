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

// Into the states of units: each scope is one, by its name.
void StoreGpuContainers(const ProbeReply& reply, NodeFacts& facts);

// What a reload of systemd ends (Resource::interrupts); empty: nothing that is known.
std::string ListCutOffByReload(const NodeFacts& facts);

// Says so in a change that reloads systemd.
void NameCutOffByReload(const NodeFacts& facts, Change& change);

}  // namespace reconciler::plugins
