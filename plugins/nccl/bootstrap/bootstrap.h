#pragma once

#include <vector>

#include "reconciler/fabric/bootstrap.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// Why the ranks cannot meet on the fabric, where the manifest says that they shall.
Errors CheckBootstrap(const ClusterSpec& cluster, const Fabric& fabric);

// A management address on Wi-Fi, and what the ranks use instead.
std::vector<Diagnostic> FindWirelessBootstrap(const PluginInput& input,
                                              const BootstrapChoice& choice,
                                              const SourceMark& where);

// That a node stays on the fabric: see StaysOnFabric.
Diagnostic MakeStaysNote(const BootstrapChoice& choice, const SourceMark& where);

}  // namespace reconciler::plugins::nccl
