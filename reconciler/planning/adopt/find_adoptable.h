#pragma once

#include <vector>

#include "reconciler/model/adopt/offers.h"
#include "reconciler/plugin.h"

namespace reconciler {

// What the plugins could take over of the nodes. `facts`: read for this cluster.
std::vector<AdoptableFile> FindAdoptable(const ClusterSpec& cluster, const Fabric& fabric,
                                         const ClusterFacts& facts,
                                         const std::vector<Plugin>& plugins);

}  // namespace reconciler
