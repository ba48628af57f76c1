#pragma once

#include <string>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

// NetworkManager turns IPv6 off on a port whenever it takes a profile away, and again where a
// profile says `ipv6.method disabled`. With the next profile, 1.42 turns it on, and 1.52 may leave
// it off (seen in the lab).
//
// Whether it is off on the port, and a profile for the port says so.
bool IsIpv6OffByProfile(const NodeFacts& facts, const std::string& netdev);

// Whether it is to be on once another profile is active: it is on, or only a profile turned it off.
bool IsIpv6Meant(const NodeFacts& facts, const std::string& netdev);

// "net.ipv6.conf.enp1s0f1np1.disable_ipv6".
std::string NameIpv6Switch(std::string netdev);

}  // namespace reconciler::plugins::netplan
