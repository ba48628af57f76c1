#include "plugins/netplan/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {

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
