#pragma once

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/probe.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::health {

RunProbe MakeWirelessProbe();
RunProbe MakeHealthProbe(const Fabric& fabric, const NodeSpec& node);

Plugin Get();

}  // namespace reconciler::plugins::health
