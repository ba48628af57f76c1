#include "reconciler/model/ipv4.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::optional<std::uint32_t> ParseNumber(std::string_view text, std::uint32_t maximum) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > maximum) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::uint32_t Ipv4Prefix::Mask() const { return length == 0 ? 0 : ~0u << (32 - length); }

Ipv4Prefix Ipv4Prefix::Network() const { return {{address.bits & Mask()}, length}; }

bool Ipv4Prefix::Contains(Ipv4Address other) const {
  return (other.bits & Mask()) == (address.bits & Mask());
}

bool Ipv4Prefix::Overlaps(const Ipv4Prefix& other) const {
  return length <= other.length ? Contains(other.address) : other.Contains(address);
}

std::uint32_t Ipv4Prefix::HostCount() const {
  if (length >= 31) return length == 31 ? 2 : 1;
  return (1u << (32 - length)) - 2;
}

std::optional<Ipv4Address> ParseIpv4(std::string_view text) {
  const std::vector<std::string> parts = Split(text, '.');
  if (parts.size() != 4) return std::nullopt;
  Ipv4Address address;
  for (const std::string& part : parts) {
    const auto octet = ParseNumber(part, 255);
    if (!octet) return std::nullopt;
    address.bits = address.bits << 8 | *octet;
  }
  return address;
}

std::optional<Ipv4Prefix> ParseIpv4Prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = ParseIpv4(text.substr(0, slash));
  const auto length = ParseNumber(text.substr(slash + 1), 32);
  if (!address || !length) return std::nullopt;
  return Ipv4Prefix{*address, static_cast<int>(*length)};
}

std::string ToString(Ipv4Address address) {
  // By hand: a cluster of 1,000 nodes has two million of these in its /etc/hosts files.
  char text[15];
  char* at = text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    at = std::to_chars(at, std::end(text), address.bits >> shift & 255).ptr;
    if (shift != 0) *at++ = '.';
  }
  return {text, at};
}

std::string ToString(const Ipv4Prefix& prefix) {
  return fmt::format("{}/{}", ToString(prefix.address), prefix.length);
}

}  // namespace reconciler
