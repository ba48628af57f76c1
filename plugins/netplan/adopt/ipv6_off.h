#pragma once

#include <string>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

// Whether IPv6 is off on the port, and a profile of NetworkManager for it says `ipv6.method
// disabled`. NetworkManager 1.42 turns it on again where the next profile does not say so, 1.52
// leaves it off (seen in the lab).
bool IsIpv6OffByProfile(const NodeFacts& facts, const std::string& netdev);

// "net.ipv6.conf.enp1s0f1np1.disable_ipv6".
std::string NameIpv6Switch(std::string netdev);

}  // namespace reconciler::plugins::netplan
