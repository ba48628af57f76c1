#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reconciler {

// Host byte order: 192.168.1.21 is 0xC0A80115.
struct Ipv4Address {
  std::uint32_t bits = 0;
  auto operator<=>(const Ipv4Address&) const = default;
};

// An address with its prefix length: an interface address (192.168.177.1/24) or, with all host
// bits zero, a subnet (192.168.177.0/24).
struct Ipv4Prefix {
  Ipv4Address address = {};
  int length = 0;  // 0 to 32
  auto operator<=>(const Ipv4Prefix&) const = default;

  std::uint32_t Mask() const;
  Ipv4Prefix Network() const;  // host bits cleared
  bool Contains(Ipv4Address other) const;
  bool Overlaps(const Ipv4Prefix& other) const;
  // Usable hosts: 254 for a /24, 2 for a /30 and a /31. Precondition: length >= 1.
  std::uint32_t HostCount() const;
};

// Dotted decimal only, no leading zeros, no surrounding text.
std::optional<Ipv4Address> ParseIpv4(std::string_view text);
std::optional<Ipv4Prefix> ParseIpv4Prefix(std::string_view text);
std::string ToString(Ipv4Address address);
std::string ToString(const Ipv4Prefix& prefix);

}  // namespace reconciler
