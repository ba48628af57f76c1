#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/cabling/cables.h"

namespace reconciler {

// Three requests find out who is at the other end of a node's cables. Between them all other nodes
// get the same one, so that every node can be heard before any node sends. Answers are the lines of
// ReadLines; every command has a time limit.
//
// What is used is what a stock Ubuntu has: iproute2 and iputils. An echo request to ff02::1, the
// group of all IPv6 nodes on a link, is answered by every Linux host, needs no knowledge of the
// neighbour and crosses no router. IPv4 would not do: before the first apply there is no address,
// broadcast pings are not answered, and ARP for another port's address is not with arp_ignore.
// arping, tcpdump and ndisc6 are not installed, and a raw socket wants more than a shell.
//
// It needs an IPv6 address at both ends. A port with a link and without one (`link-local: []`) gets
// its link-local one, derived from its MAC, for some minutes at most: the kernel removes it even
// when no one comes back, no file changes, and RDMA has that address in its table of GIDs anyway.
// The port that carries the session gets none. Ports that are down stay down.

// Adds the temporary addresses for that time, then reports the state of each port and its own
// addresses.
std::string BuildAddAddressesScript(const std::vector<CagePort>& ports,
                                    std::chrono::seconds lifetime);
// Sends on every port that has a link and an address.
std::string BuildDiscoverScript(const std::vector<CagePort>& ports);
// What lldpd heard, as JSON; nothing where it does not run.
std::string BuildLldpScript();
// Removes the temporary addresses.
std::string BuildRemoveAddressesScript(const std::vector<CagePort>& ports);

}  // namespace reconciler
