#pragma once

#include <vector>

#include "plugins/nccl/section.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// The ranks of NCCL find each other over TCP, on ports that it chooses. What ufw denies of that is
// dropped silently, so that they wait until a limit. None where a rule of ufw's own allows each
// other node's address, where ufw is off, and where any of that is not known.
std::vector<Diagnostic> FindDeniedPeers(const Section& section, const PluginInput& input);

}  // namespace reconciler::plugins::nccl
