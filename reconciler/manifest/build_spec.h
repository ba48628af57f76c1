#pragma once

#include <string>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/value.h"

namespace reconciler {

// Precondition: `document` passed the schema and the cross checks and holds the schema's defaults.
ClusterSpec BuildClusterSpec(Value document, const std::string& file);

}  // namespace reconciler
