#pragma once

#include <string>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// The entries of a list of interfaces or HCAs that the node does not have; of its profile's, none.
std::vector<std::string> ListUnknownDevices(const PluginInput& input, const std::string& list);

// Variables by which Gloo, TensorPipe, UCX and Open MPI choose interfaces or HCAs, and which name
// one that the node does not have: programs that use them end, or hang as NCCL does. HCAs of the
// hardware profile are known also while their cage has no cable.
std::vector<Diagnostic> FindUnknownDevices(const PluginInput& input, const SourceMark& where);

}  // namespace reconciler::plugins::nccl
