#include "plugins/netplan/adopt/unit.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "plugins/netplan/adopt/settings.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

using Keys = std::set<std::string>;

// What our file has a place for, and what is about the unit alone.
bool IsInOurFile(const Setting& one) {
  static const Keys kKeys = {
      "Link.MTUBytes",   "Link.RequiredForOnline",      "Network.Address", "Network.DHCP",
      "Address.Address", "Network.LinkLocalAddressing", "Network.Bond",    "Network.IPv6AcceptRA",
      "Network.Bridge",  "Network.Description",         "Network.VRF"};
  return one.section == "Match" || kKeys.contains(fmt::format("{}.{}", one.section, one.key));
}

void AddDhcp(const std::string& value, PortDefinition& port) {
  const std::string word = ToLower(value);
  const bool both = IsYes(word) || word == "both";
  if (both || word == "ipv4" || word == "v4") port.lost.emplace_back("dhcp4");
  if (both || word == "ipv6" || word == "v6") port.lost.emplace_back("dhcp6");
}

// Accepted with IPv6 unless the unit says something else.
void AddUnitLinkLocal(const std::string& value, const std::string& accept, PortDefinition& port) {
  const std::string word = ToLower(value);
  const bool ipv6 = IsYes(word) || word == "ipv6";
  if (IsYes(word) || word == "ipv4") port.lost.emplace_back("IPv4 link-local");
  if (ipv6) port.lost.emplace_back(kIpv6LinkLocal);
  if (accept.empty() ? ipv6 : IsYes(accept)) port.lost.emplace_back(kRouterAdvertisements);
}

// One without a value discards those before it.
void AddUnitAddress(const std::string& value, PortDefinition& port) {
  if (value.empty()) {
    port.addresses.clear();
  } else {
    port.addresses.push_back(value);
  }
}

}  // namespace

UnitDefinition ReadUnit(std::string_view text) {
  UnitDefinition found;
  std::string link_local = "ipv6";
  std::string accept;
  std::string dhcp;
  for (const Setting& one : ReadSettings(text)) {
    const std::string key = fmt::format("{}.{}", one.section, one.key);
    if (key == "Network.LinkLocalAddressing") link_local = one.value;
    if (key == "Network.IPv6AcceptRA") accept = one.value;
    if (key == "Network.DHCP") dhcp = one.value;
    if (key == "Link.MTUBytes") found.port.mtu = one.value;
    if (key == "Network.Address" || key == "Address.Address") AddUnitAddress(one.value, found.port);
    if (key == "Network.Bond" || key == "Network.Bridge" || key == "Network.VRF") {
      found.master = one.value;
    }
    if (!IsInOurFile(one)) found.port.lost.push_back(MakePrintable(key));
  }
  AddLostIpv6(found.port);
  AddDhcp(dhcp, found.port);
  AddUnitLinkLocal(link_local, accept, found.port);
  return found;
}

}  // namespace reconciler::plugins::netplan
