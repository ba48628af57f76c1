#pragma once

#include "plugins/nccl/section.h"
#include "reconciler/base/result.h"
#include "reconciler/model/environment.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// One-line files that name each adapter's netdev, for machines whose kernel has other names.
ReadValues MakeAdapterProbe();
void StoreAdapters(const ProbeReply& reply, NodeFacts& facts);
std::vector<std::string> ListAdapters(const NodeFacts& facts);  // empty: the node did not name them
// The name that the node gives to a port's adapter, or else the hardware profile.
std::string FindAdapter(const RailPort& port, const NodeFacts& facts);

// The variables of a node, or why they cannot be told.
Result<Environment> BuildWantedEnvironment(const Section& section, const PluginInput& input);

}  // namespace reconciler::plugins::nccl
