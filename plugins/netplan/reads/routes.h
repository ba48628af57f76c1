#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/observed.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// From `ip -j -4 route show`. The netdevs of IPv4 default routes, sorted; Absent when there is
// none.
Observed<std::vector<std::string>> ParseDefaultRoutes(const CommandReply& reply);
// All other routes, sorted; an address alone is a /32. A route over no interface, or over several,
// has an empty one.
Observed<std::vector<RouteFact>> ParseRoutes(const CommandReply& reply);

// Those of an interface that neither the kernel nor a daemon has made, sorted.
std::vector<RouteFact> ListRoutesByHand(const CommandReply& reply);

// The same of IPv6, from `ip -d -j route show table all root ::/0`: by interface, the destinations
// with their prefix lengths, but for those of the link alone.
std::map<std::string, std::set<std::string>> ListIpv6RoutesByHand(const CommandReply& reply);

// Why one of these subnets can be none of the fabric's: the node reaches a part of it elsewhere.
// Routes over `ours`, the ports of the fabric, do not count, nor do those that are shorter than /8:
// they stand for the default route. `twins` are all ports of the node's cages. Empty: nothing is in
// the way.
std::string ExplainRoutedElsewhere(const std::vector<Ipv4Prefix>& subnets,
                                   const std::vector<std::string>& ours,
                                   const std::set<std::string>& twins, const NodeFacts& facts);

}  // namespace reconciler::plugins::netplan
