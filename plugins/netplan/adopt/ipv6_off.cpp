#include "plugins/netplan/adopt/ipv6_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "plugins/netplan/adopt/keyfile.h"
#include "plugins/netplan/adopt/owner_files.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {

namespace {

bool IsSwitch(const NodeFacts& facts, const std::string& netdev, std::string_view wanted) {
  const auto found = facts.sysctl.keys.find(NameIpv6Switch(netdev));
  if (found == facts.sysctl.keys.end()) return false;
  const std::string* value = Known(found->second);
  return value != nullptr && Trim(*value) == wanted;
}

}  // namespace

bool IsIpv6OffByProfile(const NodeFacts& facts, const std::string& netdev) {
  const auto link = facts.links.find(netdev);
  if (link == facts.links.end() || !IsSwitch(facts, netdev, "1")) return false;
  const std::vector<OwnerFile> profiles = ListProfiles(facts);
  return std::any_of(profiles.begin(), profiles.end(), [&](const OwnerFile& profile) {
    return profile.state != nullptr &&
           IsProfileAbout(profile.state->content, netdev, link->second) &&
           ReadKeyfile(profile.state->content).disables_ipv6;
  });
}

bool IsIpv6Meant(const NodeFacts& facts, const std::string& netdev) {
  return IsSwitch(facts, netdev, "0") || IsIpv6OffByProfile(facts, netdev);
}

std::string NameIpv6Switch(std::string netdev) {
  // A dot of an interface's name is a slash in a key.
  std::replace(netdev.begin(), netdev.end(), '.', '/');
  return fmt::format("net.ipv6.conf.{}.disable_ipv6", netdev);
}

}  // namespace reconciler::plugins::netplan
