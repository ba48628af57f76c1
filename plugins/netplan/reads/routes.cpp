#include "plugins/netplan/reads/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "plugins/common/commands/failure.h"
#include "plugins/common/ownership/state.h"
#include "reconciler/base/json/text_member.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"

namespace reconciler::plugins::netplan {
namespace {

using Json = nlohmann::json;

constexpr int kShortestOfANetwork = 8;  // VPN clients write the default route as two /1

// The objects of the list; Absent: none.
Observed<std::vector<Json>> ParseList(const CommandReply& reply) {
  if (reply.exit_code != 0) return ExplainFailure(reply, "ip route");
  // iproute2 before 5.x prints nothing at all for an empty list.
  if (Trim(reply.out).empty()) return Absent{};
  const Json list = Json::parse(reply.out, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return Unknown{"ip route printed something other than JSON"};
  std::vector<Json> routes;
  for (const Json& route : list) {
    if (route.is_object()) routes.push_back(route);
  }
  return routes;
}

// "10.0.0.0/8", "10.0.0.5".
std::optional<Ipv4Prefix> ParseDestination(const std::string& text) {
  return ParseIpv4Prefix(text.find('/') == std::string::npos ? text + "/32" : text);
}

std::vector<RouteFact> SortRoutes(const std::vector<Json>& routes) {
  std::set<std::pair<Ipv4Prefix, std::string>> sorted;
  for (const Json& route : routes) {
    const auto prefix = ParseDestination(ReadTextMember(route, "dst"));
    if (prefix) sorted.emplace(*prefix, MakePrintable(ReadTextMember(route, "dev")));
  }
  std::vector<RouteFact> facts;
  for (const auto& [destination, netdev] : sorted) facts.push_back({destination, netdev});
  return facts;
}

std::vector<Json> SelectByHand(const CommandReply& reply) {
  const Observed<std::vector<Json>> list = ParseList(reply);
  const auto* routes = Known(list);
  std::vector<Json> by_hand;
  for (const Json& route : routes != nullptr ? *routes : std::vector<Json>()) {
    // What `ip` has made itself is "boot", which it leaves out where no details are shown.
    const std::string protocol = ReadTextMember(route, "protocol");
    if ((protocol.empty() || protocol == "boot") && !ReadTextMember(route, "dev").empty()) {
      by_hand.push_back(route);
    }
  }
  return by_hand;
}

}  // namespace

Observed<std::vector<std::string>> ParseDefaultRoutes(const CommandReply& reply) {
  const Observed<std::vector<Json>> list = ParseList(reply);
  if (const auto* unknown = std::get_if<Unknown>(&list)) return *unknown;
  const auto* routes = Known(list);
  if (routes == nullptr) return Absent{};
  std::set<std::string> netdevs;
  const auto add = [&](const Json& hop) {
    if (const std::string dev = ReadTextMember(hop, "dev"); !dev.empty()) netdevs.insert(dev);
  };
  for (const Json& route : *routes) {
    if (ReadTextMember(route, "dst") != "default") continue;
    add(route);
    const auto hops = route.find("nexthops");  // a route over several interfaces
    if (hops == route.end() || !hops->is_array()) continue;
    for (const Json& hop : *hops) {
      if (hop.is_object()) add(hop);
    }
  }
  if (netdevs.empty()) return Absent{};
  return std::vector<std::string>(netdevs.begin(), netdevs.end());
}

Observed<std::vector<RouteFact>> ParseRoutes(const CommandReply& reply) {
  const Observed<std::vector<Json>> list = ParseList(reply);
  if (const auto* unknown = std::get_if<Unknown>(&list)) return *unknown;
  const auto* routes = Known(list);
  std::vector<RouteFact> facts = routes == nullptr ? std::vector<RouteFact>() : SortRoutes(*routes);
  if (facts.empty()) return Absent{};
  return facts;
}

std::vector<RouteFact> ListRoutesByHand(const CommandReply& reply) {
  return SortRoutes(SelectByHand(reply));
}

std::map<std::string, std::set<std::string>> ListIpv6RoutesByHand(const CommandReply& reply) {
  std::map<std::string, std::set<std::string>> by_hand;
  for (const Json& route : SelectByHand(reply)) {
    std::string destination = MakePrintable(ReadTextMember(route, "dst"));
    if (destination.find(':') == std::string::npos || destination.starts_with("fe80:")) continue;
    if (destination.find('/') == std::string::npos) destination += "/128";
    by_hand[MakePrintable(ReadTextMember(route, "dev"))].insert(std::move(destination));
  }
  return by_hand;
}

std::string ExplainRoutedElsewhere(const std::vector<Ipv4Prefix>& subnets,
                                   const std::vector<std::string>& ours,
                                   const std::set<std::string>& twins, const NodeFacts& facts) {
  const auto* routes = Known(facts.network.routes);
  if (routes == nullptr) return {};
  for (const auto& [destination, netdev] : *routes) {
    if (destination.length < kShortestOfANetwork) continue;
    if (std::find(ours.begin(), ours.end(), netdev) != ours.end()) continue;
    for (const Ipv4Prefix& subnet : subnets) {
      if (!destination.Overlaps(subnet)) continue;
      return fmt::format(
          "fabric subnet {} overlaps {}, which this node reaches over {}: packets for one would go "
          "to the other; {}",
          ToString(subnet), ToString(destination), netdev.empty() ? "elsewhere" : netdev,
          twins.contains(netdev) ? "take the address off there: the twins of a cage share no subnet"
          : IsLinkLocal(subnet) ? "take the link-local address off there, or give the rail a subnet"
                                : "give the fabric a subnet that nothing uses");
    }
  }
  return {};
}

}  // namespace reconciler::plugins::netplan
