#include "plugins/netplan/adopt/keyfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

// What our file has a place for, and what is about the profile alone.
bool IsCarriedOver(const std::string& key) {
  static const std::set<std::string> kKeys = {"connection.id",
                                              "connection.uuid",
                                              "connection.type",
                                              "connection.interface-name",
                                              "connection.autoconnect",
                                              "connection.autoconnect-priority",
                                              "connection.timestamp",
                                              "connection.autoconnect-retries",
                                              "ethernet.mac-address",
                                              "ethernet.mtu",
                                              "match.interface-name",
                                              "ipv4.method",
                                              "ipv6.method",
                                              "ipv6.addr-gen-mode"};
  return kKeys.contains(key);
}

// "address1", "address2", …
bool IsAddressKey(std::string_view key) {
  constexpr std::string_view kAddress = "address";
  return key.starts_with(kAddress) && key.size() > kAddress.size() &&
         std::all_of(key.begin() + kAddress.size(), key.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "192.168.177.1/24", and the gateway behind a comma.
void AddAddress(const std::string& value, PortDefinition& port) {
  const std::size_t comma = value.find(',');
  port.addresses.push_back(value.substr(0, comma));
  if (comma != std::string::npos) port.lost.emplace_back("gateway");
}

void AddIpv4Method(const std::string& method, PortDefinition& port) {
  if (method == "auto") {
    port.lost.emplace_back("dhcp4");
  } else if (method == "link-local") {
    port.lost.emplace_back("IPv4 link-local");
  } else if (method != "manual" && method != "disabled") {
    port.lost.emplace_back("ipv4.method");
  }
}

// NetworkManager does it automatically where the keyfile says nothing.
void AddIpv6Method(const std::string& method, PortDefinition& port) {
  if (method == "disabled" || method == "ignore") return;
  port.lost.emplace_back(kIpv6LinkLocal);
  if (method == "auto") port.lost.emplace_back(kRouterAdvertisements);
  if (method == "dhcp") port.lost.emplace_back("dhcp6");
}

}  // namespace

void AddKeyfileSettings(const std::vector<Setting>& settings, const AddressMethods& usual,
                        KeyfileDefinition& found) {
  AddressMethods methods = usual;
  for (const Setting& one : settings) {
    const std::string section = one.section == "802-3-ethernet" ? "ethernet" : one.section;
    const std::string key = fmt::format("{}.{}", section, one.key);
    if (key == "ipv4.method") methods.ipv4 = one.value;
    if (key == "ipv6.method") methods.ipv6 = one.value;
    if (key == "ethernet.mtu" && one.value != "0") found.port.mtu = one.value;
    if (key == "connection.master" || key == "connection.controller") found.master = one.value;
    if (section == "ipv4" && IsAddressKey(one.key)) {
      AddAddress(one.value, found.port);
    } else if (!IsCarriedOver(key)) {
      found.port.lost.push_back(MakePrintable(key));
    }
  }
  AddIpv4Method(methods.ipv4, found.port);
  AddIpv6Method(methods.ipv6, found.port);
  found.disables_ipv6 = methods.ipv6 == "disabled";
}

KeyfileDefinition ReadKeyfile(std::string_view text) {
  KeyfileDefinition found;
  AddKeyfileSettings(ReadSettings(text), {}, found);
  return found;
}

}  // namespace reconciler::plugins::netplan
