#include "plugins/netplan/adopt/ipv6_off.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {

bool IsIpv6Off(const NodeFacts& facts, const std::string& netdev) {
  const auto found = facts.sysctl.keys.find(NameIpv6Switch(netdev));
  if (found == facts.sysctl.keys.end()) return false;
  const std::string* value = Known(found->second);
  return value != nullptr && Trim(*value) == "1";
}

std::string NameIpv6Switch(std::string netdev) {
  // A dot of an interface's name is a slash in a key.
  std::replace(netdev.begin(), netdev.end(), '.', '/');
  return fmt::format("net.ipv6.conf.{}.disable_ipv6", netdev);
}

}  // namespace reconciler::plugins::netplan
