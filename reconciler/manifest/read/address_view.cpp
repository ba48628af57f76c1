#include "reconciler/manifest/read/address_view.h"

#include <arpa/inet.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Ipv6Bytes = std::array<std::uint8_t, 16>;

constexpr std::size_t kIpv4Begin = 12;  // of an IPv4 address in an IPv6 one

std::optional<Ipv6Bytes> ParseIpv6(const std::string& text) {
  Ipv6Bytes bytes = {};
  if (text.find('\0') != std::string::npos) return std::nullopt;  // where inet_pton stops reading
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

std::string FormatIpv6(const Ipv6Bytes& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

// ::ffff:0:0/96 (RFC 4291, section 2.5.5.2).
std::optional<Ipv4Address> FindMappedIpv4(const Ipv6Bytes& bytes) {
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  if (!std::all_of(bytes.begin(), bytes.begin() + 10, is_zero)) return std::nullopt;
  if (bytes[10] != 0xFF || bytes[11] != 0xFF) return std::nullopt;
  std::uint32_t bits = 0;
  for (std::size_t i = kIpv4Begin; i < bytes.size(); ++i) bits = bits << 8 | bytes[i];
  return Ipv4Address{bits};
}

}  // namespace

bool AddressView::IsLoopback() const {
  if (ipv4) return ipv4->bits >> 24 == 127;
  return key == "::1" || key == "localhost";
}

bool AddressView::IsIpv6LinkLocal() const {
  return ipv6 && (*ipv6)[0] == 0xFE && ((*ipv6)[1] & 0xC0) == 0x80;
}

AddressView ViewAddress(std::string_view text) {
  AddressView view;
  view.ipv4 = ParseIpv4(text);
  const std::size_t percent = std::min(text.find('%'), text.size());
  if (!view.ipv4) view.ipv6 = ParseIpv6(std::string(text.substr(0, percent)));
  if (view.ipv6) view.ipv4 = FindMappedIpv4(*view.ipv6);
  if (view.ipv4) view.ipv6.reset();
  if (view.ipv4) {
    view.key = ToString(*view.ipv4);
  } else if (view.ipv6) {
    view.interface = text.substr(std::min(percent + 1, text.size()));
    view.key = FormatIpv6(*view.ipv6);
    // One such address may be a machine's on each network; any other is one machine's alone.
    if (view.IsIpv6LinkLocal()) view.key += "%" + view.interface;
  } else {
    view.key = ToLower(text.ends_with('.') ? text.substr(0, text.size() - 1) : text);
  }
  return view;
}

bool IsReadAsNumber(std::string_view name) {
  const std::vector<std::string> labels = Split(name, '.');
  return std::all_of(labels.begin(), labels.end(), [](std::string_view label) {
    const bool is_hex = label.starts_with("0x") || label.starts_with("0X");
    if (is_hex) label.remove_prefix(2);
    const std::string_view digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
    return !label.empty() && label.find_first_not_of(digits) == std::string_view::npos;
  });
}

}  // namespace reconciler
