#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/planning/plan_maker.h"
#include "reconciler/plugin.h"

namespace reconciler {

// A manifest that passed every check, with its fabric.
struct Cluster {
  ClusterSpec spec = {};
  Fabric fabric = {};
  std::string text = {};  // the manifest's bytes
};

// `file` is the name that messages carry. Errors: all of the manifest, and with them what plugins
// and `verify` find in its parts that are not refused. Whether what `scope` names exists is looked
// at last, and only then.
tl::expected<Cluster, Errors> BuildCluster(const std::string& text, const std::string& file,
                                           const std::vector<Plugin>& plugins,
                                           const PlanScope& scope = {});

}  // namespace reconciler
