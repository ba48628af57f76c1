#include "plugins/netplan/protection.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "plugins/netplan/paths.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

bool HoldsAddress(const NodeFacts& facts, const std::string& netdev, Ipv4Address address) {
  const auto link = facts.links.find(netdev);
  if (link == facts.links.end()) return false;
  return std::any_of(link->second.ipv4.begin(), link->second.ipv4.end(),
                     [&](const Ipv4Prefix& prefix) { return prefix.address == address; });
}

}  // namespace

std::string WhyProtected(const PluginInput& input, const std::vector<std::string>& netdevs) {
  const NodeFacts& facts = input.facts;
  const Observed<std::string> links = ValueOf(facts, "host.links");
  if (const auto* unknown = std::get_if<Unknown>(&links)) {
    return fmt::format("cannot tell which interface leads to this node: {}", unknown->why);
  }
  if (!facts.session_address.empty() && facts.session_interface.empty()) {
    return fmt::format(
        "cannot tell which interface leads to this node: none holds {}, the address "
        "of this session",
        facts.session_address);
  }
  const Observed<std::string> routes = ValueOf(facts, std::string(kRouteKey));
  if (const auto* unknown = std::get_if<Unknown>(&routes)) {
    return fmt::format("cannot tell which interface leads to this node: {}", unknown->why);
  }
  const auto* route_netdevs = Known(routes);
  const std::vector<std::string> via =
      route_netdevs != nullptr ? Split(*route_netdevs, ' ') : std::vector<std::string>();
  const auto management = ParseIpv4(input.node.address);
  for (const std::string& netdev : netdevs) {
    if (netdev == facts.session_interface) {
      return fmt::format("{} carries this session and is never touched", netdev);
    }
    if (management && HoldsAddress(facts, netdev, *management)) {
      return fmt::format("{} holds the management address {} and is never touched", netdev,
                         input.node.address);
    }
    if (std::find(via.begin(), via.end(), netdev) != via.end()) {
      return fmt::format("{} carries the default route and is never touched", netdev);
    }
  }
  return {};
}

Observed<std::string> ParseDefaultRoutes(const CommandReply& reply) {
  using Json = nlohmann::json;
  if (reply.exit_code != 0) {
    const std::vector<std::string> lines = SplitLines(reply.err);
    return Unknown{fmt::format("ip route failed: {}", lines.empty()
                                                          ? fmt::format("exit {}", reply.exit_code)
                                                          : lines.front())};
  }
  const Json list = Json::parse(reply.out, nullptr, /*allow_exceptions=*/false);
  // iproute2 before 5.x prints nothing at all for an empty list.
  if (Trim(reply.out).empty()) return Absent{};
  if (!list.is_array()) return Unknown{"ip route printed something other than JSON"};
  std::set<std::string> netdevs;
  const auto add = [&](const Json& hop) {
    if (!hop.is_object()) return;
    const auto dev = hop.find("dev");
    if (dev != hop.end() && dev->is_string()) netdevs.insert(dev->get<std::string>());
  };
  for (const Json& route : list) {
    add(route);
    if (!route.is_object()) continue;
    const auto hops = route.find("nexthops");  // a route over several interfaces
    if (hops != route.end() && hops->is_array()) std::for_each(hops->begin(), hops->end(), add);
  }
  if (netdevs.empty()) return Absent{};
  return Join({netdevs.begin(), netdevs.end()}, " ");
}

}  // namespace reconciler::plugins::netplan
