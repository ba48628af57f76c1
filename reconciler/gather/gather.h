#pragma once

#include <functional>
#include <vector>

#include "reconciler/gather/reply/trial.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/plugin.h"

namespace reconciler {

// All plugins' probes on all of `nodes` at the same time, one exec per node. A node that cannot be
// read is in ClusterFacts::unreachable with its reason and hides no other node's facts. A node
// whose ports have other names than those of its profile (see LocatePorts) takes a second exec.
// `on_node` is called from several threads, once per node when it has answered or failed. Files on
// trial are shown as if they were committed. For a plan, facts that only verification judges are
// not read.
ClusterFacts Gather(const ClusterSpec& cluster, const Fabric& fabric,
                    const std::vector<Plugin>& plugins, const std::vector<const NodeSpec*>& nodes,
                    NodePool& pool, const std::function<void(const NodeName&)>& on_node = {},
                    const Trials& trials = {}, Purpose purpose = Purpose::kVerification);

}  // namespace reconciler
