#include "plugins/sysctl/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "plugins/sysctl/keys.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/model/arp.h"

namespace reconciler::plugins::sysctl {
namespace {

// "spark-1, spark-2": the nodes on which `netdev` is a port of the fabric.
std::string ListNodesWithPort(const Fabric& fabric, const std::string& netdev) {
  std::vector<std::string> nodes;
  for (const auto& [node, ports] : fabric.ports) {
    const bool has = std::any_of(ports.begin(), ports.end(),
                                 [&](const RailPort& port) { return port.netdev == netdev; });
    if (has) nodes.push_back(node);
  }
  return Join(nodes, ", ");
}

struct Need {
  std::string_view family = {};  // "net.ipv4.conf."
  std::string_view leaf = {};
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::string_view wanted = {};
  std::string_view why = {};
  bool of_arp = false;
};

constexpr std::string_view kArp =
    "both rails can meet on one switch, where a port must answer for its own address alone";
constexpr std::string_view kIpv6 =
    "nodes show over IPv6 on the fabric that they are ready to commit";
constexpr std::string_view kEcho = "nodes prove by pings that they reach each other";

constexpr Need kOfPorts[] = {
    {"net.ipv4.conf.", "arp_announce", kLeastArp, kMostArp, "1 or 2", kArp, true},
    {"net.ipv4.conf.", "arp_ignore", kLeastArp, kMostArp, "1 or 2", kArp, true},
    {"net.ipv6.conf.", "disable_ipv6", 0, 0, "0", kIpv6},
};

// The kernel takes the greater of arp_ignore of `all` and of the port; disable_ipv6 of `all` sets
// that of every interface, and that of `default` the ports that appear later.
constexpr Need kOfAll[] = {
    {"net.ipv4.conf.all.arp_ignore", {}, 0, kMostArp, "0, 1 or 2", kArp, true},
    {"net.ipv4.icmp_echo_ignore_all", {}, 0, 0, "0", kEcho},
    {"net.ipv6.conf.all.disable_ipv6", {}, 0, 0, "0", kIpv6},
    {"net.ipv6.conf.default.disable_ipv6", {}, 0, 0, "0", kIpv6},
    {"net.ipv6.icmp.echo_ignore_all", {}, 0, 0, "0", kEcho},
};

bool Meets(const Need& need, const std::string& value) {
  const auto number = ParseNumber<std::int64_t>(value);
  return number && *number >= need.least && *number <= need.most;
}

}  // namespace

Contradiction FindContradiction(const Fabric& fabric, bool manages_arp, const std::string& key,
                                const std::string& value) {
  const auto counts = [&](const Need& need) { return manages_arp || !need.of_arp; };
  for (const Need& need : kOfAll) {
    if (counts(need) && key == need.family && !Meets(need, value)) {
      return {std::string(need.wanted), std::string(need.why)};
    }
  }
  const std::string netdev = FindInterface(key);
  const std::string nodes = netdev.empty() ? "" : ListNodesWithPort(fabric, netdev);
  if (nodes.empty()) return {};
  for (const Need& need : kOfPorts) {
    const bool same = key.starts_with(need.family) && key.ends_with(fmt::format(".{}", need.leaf));
    if (!same || !counts(need) || Meets(need, value)) continue;
    return {std::string(need.wanted),
            fmt::format("{} is a port of the fabric on {}, and {}", netdev, nodes, need.why)};
  }
  return {};
}

}  // namespace reconciler::plugins::sysctl
