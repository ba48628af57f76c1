#pragma once

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::host {

// Where the PCI functions of the node's hardware are, and what ethtool (where there is one) reports
// of its ports: FEC, lanes and error counters. All of it optional: verify judges what is reported,
// and no plan needs it. Not run on hardware.
RunProbe MakePortsProbe(const ClusterSpec& cluster, const NodeSpec& node);
// Fills `pci` and `ports` of NetworkFacts.
void StorePorts(const CommandReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::host
