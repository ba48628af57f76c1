#include "reconciler/verify/nccl_id.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace reconciler {
namespace {

constexpr std::size_t kFamilyAt = 8;
constexpr std::size_t kPortAt = 10;
constexpr std::size_t kAddressAt = 12;
constexpr int kInet = 2;    // AF_INET and AF_INET6 of Linux
constexpr int kInet6 = 10;  // on every machine

using Bytes = std::array<std::uint8_t, kNcclIdBytes>;

std::optional<Bytes> FromHex(std::string_view hex) {
  Bytes bytes = {};
  if (hex.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* first = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(first, first + 2, bytes[i], 16);
    if (error != std::errc() || end != first + 2) return std::nullopt;
  }
  return bytes;
}

tl::unexpected<Error> Refuse(std::string message, std::string hint) {
  return Fail({.kind = ErrorKind::kVerify, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace

Result<NcclRoot> DecodeNcclId(std::string_view hex) {
  const auto bytes = FromHex(hex);
  if (!bytes) {
    return Refuse(
        fmt::format("wanted NCCL's unique id as {} hexadecimal digits, found {} characters",
                    2 * kNcclIdBytes, hex.size()),
        "spark-verify and spark-reconcile are of different versions");
  }
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>((*bytes)[i]); };
  const int family = static_cast<int>(at(kFamilyAt) | at(kFamilyAt + 1) << 8);
  if (family == kInet6) {
    return Refuse("wanted an IPv4 address in NCCL's unique id, found an IPv6 address",
                  "write NCCL_SOCKET_FAMILY: AF_INET into nccl.env");
  }
  if (family != kInet) {
    return Refuse(
        fmt::format("wanted an address in NCCL's unique id, found one of family {}", family),
        "this build of NCCL has another form of id: take a release");
  }
  NcclRoot root;
  root.port = static_cast<int>(at(kPortAt) << 8 | at(kPortAt + 1));
  for (std::size_t i = 0; i < 4; ++i) {
    root.address.bits = root.address.bits << 8 | at(kAddressAt + i);
  }
  return root;
}

Result<void> CheckNcclRoot(const NcclRoot& root, const Ipv4Prefix& bootstrap,
                           const std::string& node, const std::string& netdev) {
  if (bootstrap.Contains(root.address) && root.port != 0) return {};
  return Refuse(
      fmt::format("wanted NCCL on {} to wait for the others in {} ({}), found {} port {}", node,
                  ToString(bootstrap.Network()), netdev, ToString(root.address), root.port),
      fmt::format("look at NCCL_SOCKET_IFNAME and NCCL_COMM_ID on {}", node));
}

}  // namespace reconciler
