#pragma once

#include "plugins/nccl/section.h"
#include "reconciler/base/result.h"
#include "reconciler/model/environment.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

constexpr std::string_view kSubnetAware = "NCCL_IB_SUBNET_AWARE_ROUTING";

// One-line files that name each adapter's netdev, for machines whose kernel has other names.
ReadValues AdapterProbe();
void StoreAdapters(const ProbeReply& reply, NodeFacts& facts);

// The variables of a node, or why they cannot be told.
Result<Environment> WantedEnvironment(const Section& section, const PluginInput& input);

}  // namespace reconciler::plugins::nccl
