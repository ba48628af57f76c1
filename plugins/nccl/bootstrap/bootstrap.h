#pragma once

#include <vector>

#include "reconciler/fabric/bootstrap.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// Why the ranks cannot meet on the fabric, where the manifest says that they shall.
Errors CheckBootstrap(const ClusterSpec& cluster, const Fabric& fabric);

// A plan of some nodes does not read the others, which may be why this one is on the fabric: it
// stays there.
bool StaysOnFabric(const PluginInput& input, const BootstrapChoice& choice);

// A management address on Wi-Fi, and what the ranks use instead; or a node that stays on the
// fabric.
std::vector<Diagnostic> FindWirelessBootstrap(const PluginInput& input, const SourceMark& where);

}  // namespace reconciler::plugins::nccl
