#pragma once

#include <string>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// The entries of a list of interfaces or HCAs that the node does not have: programs of Gloo,
// TensorPipe, UCX and Open MPI that use it end, or hang as NCCL does. HCAs of the hardware profile
// are known also while their cage has no cable.
std::vector<std::string> ListUnknownDevices(const PluginInput& input, const std::string& list);

}  // namespace reconciler::plugins::nccl
