#pragma once

#include <string>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

// NetworkManager turns IPv6 off on a port whenever it takes a profile away, and again where a
// profile says `ipv6.method disabled`. With the next profile, 1.42 turns it on, and 1.52 leaves it
// off unless that one says `ipv6.method link-local`, as ours does (seen in the lab).
bool IsIpv6Off(const NodeFacts& facts, const std::string& netdev);

// "net.ipv6.conf.enp1s0f1np1.disable_ipv6".
std::string NameIpv6Switch(std::string netdev);

}  // namespace reconciler::plugins::netplan
