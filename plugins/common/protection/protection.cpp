#include "plugins/common/protection/protection.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

std::string ExplainUnclear(const NodeFacts& facts,
                           const Observed<std::vector<std::string>>& routes) {
  const Observed<int> links = Answer(facts.network.links);
  if (const auto* unknown = std::get_if<Unknown>(&links)) return unknown->why;
  if (!facts.session.address.empty() && facts.session.interface.empty()) {
    return fmt::format("none holds {}, the address of this session", facts.session.address);
  }
  const auto* unknown = std::get_if<Unknown>(&routes);
  return unknown != nullptr ? unknown->why : "";
}

// Members of a bond or bridge that leads to the node do so too, and what is below such a VLAN.
void ProtectBelow(const NodeFacts& facts, Protection& protection) {
  bool more = true;
  while (more) {
    more = false;
    const std::map<std::string, std::string> above = protection.carries;
    for (const auto& [netdev, link] : facts.links) {
      const auto master = above.find(link.master);
      if (master != above.end() && !link.master.empty()) {
        more |= protection.carries
                    .emplace(netdev, fmt::format("is a member of {}, which {}", master->first,
                                                 master->second))
                    .second;
      }
      if (const auto vlan = above.find(netdev); vlan != above.end() && !link.below.empty()) {
        more |= protection.carries
                    .emplace(link.below,
                             fmt::format("is below {}, which {}", vlan->first, vlan->second))
                    .second;
      }
    }
  }
}

}  // namespace

std::vector<std::string> Protection::Netdevs() const {
  std::vector<std::string> netdevs;
  for (const auto& [netdev, what] : carries) netdevs.push_back(netdev);
  return netdevs;
}

Protection FindProtection(const NodeSpec& node, const NodeFacts& facts) {
  const Observed<std::vector<std::string>> routes = Answer(facts.network.default_route);
  Protection protection;
  if (const std::string why = ExplainUnclear(facts, routes); !why.empty()) {
    protection.unclear = "cannot determine which interface leads to this node: " + why;
  }
  // The first word on an interface stays.
  if (!facts.session.interface.empty()) {
    protection.carries.emplace(facts.session.interface, "carries this session");
  }
  const auto management = ParseIpv4(node.address);
  for (const auto& [netdev, link] : facts.links) {
    const bool holds = management && std::any_of(link.ipv4.begin(), link.ipv4.end(),
                                                 [&](const Ipv4Prefix& prefix) {
                                                   return prefix.address == *management;
                                                 });
    if (!holds) continue;
    protection.carries.emplace(netdev, "holds the management address " + node.address);
  }
  if (const auto* netdevs = Known(routes)) {
    for (const std::string& netdev : *netdevs) {
      protection.carries.emplace(netdev, "carries the default route");
    }
  }
  ProtectBelow(facts, protection);
  return protection;
}

std::string ExplainProtected(const Protection& protection,
                             const std::vector<std::string>& netdevs) {
  if (!protection.unclear.empty()) return protection.unclear;
  for (const std::string& netdev : netdevs) {
    const auto found = protection.carries.find(netdev);
    if (found == protection.carries.end()) continue;
    return fmt::format("{} {} and is never touched", netdev, found->second);
  }
  return {};
}

}  // namespace reconciler::plugins
