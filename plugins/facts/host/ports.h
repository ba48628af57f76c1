#pragma once

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::host {

// Which interface is which PCI function, with its driver, where the functions of the node's
// hardware are, and what ethtool (where there is one) reports of its ports: FEC, lanes and error
// counters. All of it optional: by the first, ports are found that have other names than their
// profile; verify judges what else is reported. Not run on hardware.
RunProbe MakePortsProbe(const ClusterSpec& cluster, const NodeSpec& node);
RunProbe MakeEthtoolProbe(const ClusterSpec& cluster, const NodeSpec& node);
// Fills `pci` and `ports` of NetworkFacts, and `driver` of links that are known already.
void StorePorts(const CommandReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::host
