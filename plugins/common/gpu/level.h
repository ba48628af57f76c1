#pragma once

#include "reconciler/model/cluster_spec.h"

namespace reconciler::plugins {

// Whether `verify` goes beyond the links, so that what it must know is worth a command more.
bool MeasuresRdma(const ClusterSpec& cluster);
// Also where the level is `auto`, which depends on the nodes.
bool MayMeasureRdma(const ClusterSpec& cluster);

}  // namespace reconciler::plugins
