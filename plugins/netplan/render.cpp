#include "plugins/netplan/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reconciler/fabric/link_local.h"

namespace reconciler::plugins::netplan {
namespace {

// Plain where YAML 1.1 takes it for nothing but text, else in double quotes, which YAML shares with
// JSON.
std::string QuoteKey(const std::string& netdev) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  // A digit inside keeps clear of words like "on" and "null".
  const bool has_digit =
      std::any_of(netdev.begin(), netdev.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!netdev.empty() && letter(netdev[0]) && has_digit &&
      std::all_of(netdev.begin(), netdev.end(), plain)) {
    return netdev;
  }
  return nlohmann::json(netdev).dump(-1, ' ', /*ensure_ascii=*/true,
                                     nlohmann::json::error_handler_t::replace);
}

std::string FormatAddresses(const RailPort& port) {
  if (IsLinkLocal(port)) return "      link-local: [ipv4, ipv6]\n";
  return fmt::format("      link-local: []\n      addresses: [{}]\n", ToString(port.address));
}

}  // namespace

std::string FormatNetplan(const std::vector<RailPort>& ports, const std::vector<std::string>& down,
                          Renderer renderer) {
  std::string body = "network:\n  version: 2\n  ethernets:\n";
  for (const RailPort& port : ports) {
    body += fmt::format(
        "    {}:\n"
        "      dhcp4: false\n"
        "      dhcp6: false\n"
        "      accept-ra: false\n"
        "{}"
        "      mtu: {}\n"
        "      optional: true\n",
        QuoteKey(port.netdev), FormatAddresses(port), port.mtu);
    if (renderer != Renderer::kNetworkManager) continue;
    body +=
        "      renderer: NetworkManager\n"
        "      networkmanager: {passthrough: {ipv6.method: link-local}}\n";
  }
  for (const std::string& netdev : down) {
    body += fmt::format(
        "    {}:\n"
        "      dhcp4: false\n"
        "      dhcp6: false\n"
        "      accept-ra: false\n"
        "      link-local: []\n"
        "      optional: true\n"
        "      activation-mode: off\n",
        QuoteKey(netdev));
  }
  return body;
}

std::string FormatUnmanaged(const std::vector<std::string>& down) {
  std::string body = "[keyfile]\nunmanaged-devices+=";
  for (const std::string& netdev : down) body += fmt::format("interface-name:{};", netdev);
  return body + "\n";
}

}  // namespace reconciler::plugins::netplan
