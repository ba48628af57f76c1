#include "reconciler/base/ipv4.h"

#include <fmt/format.h>

#include <boost/asio/ip/network_v4.hpp>
#include <charconv>
#include <iterator>

#include "reconciler/base/number.h"

namespace reconciler {
namespace {

using boost::asio::ip::address_v4;
using boost::asio::ip::network_v4;

// With the host bits that the address has.
network_v4 ToBoost(Ipv4Address address, int length) {
  return {address_v4(address.bits), static_cast<unsigned short>(length)};
}

}  // namespace

std::uint32_t Ipv4Prefix::Mask() const { return ToBoost(address, length).netmask().to_uint(); }

Ipv4Prefix Ipv4Prefix::Network() const {
  return {{ToBoost(address, length).network().to_uint()}, length};
}

bool Ipv4Prefix::Contains(Ipv4Address other) const {
  return ToBoost(other, length).network() == ToBoost(address, length).network();
}

bool Ipv4Prefix::Overlaps(const Ipv4Prefix& other) const {
  return length <= other.length ? Contains(other.address) : other.Contains(address);
}

std::uint32_t Ipv4Prefix::HostCount() const {
  if (length == 31) return 2;  // RFC 3021, which Boost does not know
  return static_cast<std::uint32_t>(ToBoost(address, length).hosts().size());
}

std::optional<Ipv4Address> ParseIpv4(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;  // where Boost stops reading
  boost::system::error_code error;
  const address_v4 address = boost::asio::ip::make_address_v4(text, error);
  if (error) return std::nullopt;
  return Ipv4Address{address.to_uint()};
}

std::optional<Ipv4Prefix> ParseIpv4Prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  // Boost's own make_network_v4 takes "/024" for 24.
  const std::string_view digits = text.substr(slash + 1);
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  const auto address = ParseIpv4(text.substr(0, slash));
  const auto length = ParseNumber<unsigned>(digits);
  if (!address || !length || *length > 32) return std::nullopt;
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
