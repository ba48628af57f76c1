#pragma once

#include <string>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// The fabric with the addresses that the nodes chose on its link-local rail. A port
// whose address is not known stays as it is.
Fabric ApplyFoundAddresses(Fabric fabric, const ClusterFacts& facts);

// A port of the rail without an address in such a fabric, over which no RDMA goes; nullptr: each
// has one.
const RailPort* FindWithoutAddress(const Segment& segment);
// "spark-1 has no link-local address on rail1"
std::string ExplainNoAddress(const RailPort& port);

// By which its neighbour reaches the port whatever IPv4 address it has: "fe80::…"; empty: not
// known.
std::string FindIpv6LinkLocal(const ClusterFacts& facts, const RailPort& port);

}  // namespace reconciler
