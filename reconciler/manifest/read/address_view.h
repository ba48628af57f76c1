#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reconciler/base/ipv4.h"

namespace reconciler {

// A management address: an IPv4 or IPv6 address, or a host name.
struct AddressView {
  std::optional<Ipv4Address> ipv4 = std::nullopt;  // also of ::ffff:10.0.0.1, which is one
  std::optional<std::array<std::uint8_t, 16>> ipv6 = std::nullopt;  // in network byte order
  std::string interface = {};  // of an IPv6 address: "eth0" of fe80::1%eth0
  // The same for all ways to write one address or one host name: fd00::a of FD00:0::A, and spark-1
  // of Spark-1 and spark-1. alike.
  std::string key = {};

  bool IsHostName() const { return !ipv4 && !ipv6; }
  bool IsLoopback() const;  // localhost too
  bool IsIpv6LinkLocal() const;
};

AddressView ViewAddress(std::string_view text);

// Whether programs may read a name as a number before they look it up, since each part of it is
// one: 7, 10.1, 0x7f.
bool IsReadAsNumber(std::string_view name);

}  // namespace reconciler
