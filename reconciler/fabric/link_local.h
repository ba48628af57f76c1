#pragma once

#include <string>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// On a link-local rail each node chooses an address in this subnet (RFC 3927). Until it is
// found (ApplyFoundAddresses), the ports of the rail have the subnet in its place.
inline constexpr Ipv4Prefix kLinkLocalSubnet{{0xA9FE0000}, 16};

bool IsLinkLocal(const Ipv4Prefix& address);
bool IsLinkLocal(const RailPort& port);
bool IsLinkLocal(const Segment& segment);

// The manifest's `fabric.link_local` where it is true: the last rail is link-local. nullptr: none
// is.
const Value* FindLinkLocal(const ClusterSpec& cluster);

// Whether an address that the port's interface has is the one that it must have.
bool Accepts(const RailPort& port, const Ipv4Prefix& found);
// Whether it is known which address the port has.
bool HasAddress(const RailPort& port);

// "192.168.177.1/24", or "link-local": as the manifest has it.
std::string FormatPortAddress(const RailPort& port);

}  // namespace reconciler
