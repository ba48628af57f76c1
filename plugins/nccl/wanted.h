#pragma once

#include "plugins/nccl/section.h"
#include "reconciler/base/result.h"
#include "reconciler/fabric/bootstrap.h"
#include "reconciler/model/environment.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// One-line files that name each HCA's netdev, for machines whose kernel has other names.
ReadValues MakeHcaProbe();
void StoreHcas(const ProbeReply& reply, NodeFacts& facts);
std::vector<std::string> ListHcas(const NodeFacts& facts);  // empty: the node did not name them
// The name that the node gives to a port's HCA, or else the hardware profile.
std::string FindHcaName(const RailPort& port, const NodeFacts& facts);

// A plan of some nodes does not read the others, which may be why this one is on the fabric: it
// stays there.
bool StaysOnFabric(const PluginInput& input, const BootstrapChoice& choice);

// The variables of a node, or why they cannot be determined.
Result<Environment> BuildWantedEnvironment(const Section& section, const PluginInput& input);

}  // namespace reconciler::plugins::nccl
