#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/cabling/cables.h"

namespace reconciler {

// What finds out who is at the other end of a node's cables. As a rule one request to each node
// does. Where a port had no address yet, others may have sent too early to be heard by it: all send
// once more, and then the temporary addresses are removed. Answers are the lines of ReadAnswer;
// every command has a time limit.
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

// Adds the temporary addresses for that time, reports the state of each port and its own addresses,
// and sends on every port that has a link and an address. Then what lldpd heard.
std::string BuildObserveScript(const std::vector<CagePort>& ports, std::chrono::seconds lifetime);
// Sends once more.
std::string BuildDiscoverScript(const std::vector<CagePort>& ports);
// Removes the temporary addresses.
std::string BuildRemoveAddressesScript(const std::vector<CagePort>& ports);

}  // namespace reconciler
