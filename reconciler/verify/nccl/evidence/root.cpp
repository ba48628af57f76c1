#include "reconciler/verify/nccl/evidence/root.h"

#include <fmt/format.h>

#include "reconciler/spark_verify/protocol/nccl_id.h"

namespace reconciler {
namespace {

// The sockaddr behind 8 bytes of magic: the family as the node has it (both machine types are
// little-endian), the rest in network order.
constexpr std::size_t kFamily = 8;
constexpr std::size_t kPort = 10;
constexpr std::size_t kAddress = 12;
constexpr int kInet = 2;    // AF_INET and AF_INET6
constexpr int kInet6 = 10;  // of Linux

tl::unexpected<Error> Refuse(std::string message, std::string hint) {
  return Fail({.kind = ErrorKind::kVerify, .message = std::move(message), .hint = std::move(hint)});
}

}  // namespace

Result<std::string> CheckNcclRoot(std::string_view unique_id,
                                  const std::optional<BootstrapNetwork>& network,
                                  const std::string& node) {
  const auto id = spark_verify::ParseUniqueId(unique_id);
  if (!id) return Fail(id.error());
  const int family = (*id)[kFamily] | (*id)[kFamily + 1] << 8;
  if (family == kInet6) {
    return Refuse(fmt::format("wanted NCCL on {} to wait for the others at an IPv4 address, found "
                              "an IPv6 address",
                              node),
                  "write NCCL_SOCKET_FAMILY: AF_INET into nccl.env");
  }
  if (family != kInet) {
    return Refuse(fmt::format("wanted the address of NCCL on {} in its unique id, found one of "
                              "family {}",
                              node, family),
                  "this build of NCCL has another form of id: take a release");
  }
  const int port = (*id)[kPort] << 8 | (*id)[kPort + 1];
  Ipv4Address address;
  for (std::size_t i = 0; i < 4; ++i) address.bits = address.bits << 8 | (*id)[kAddress + i];
  constexpr std::uint32_t kLoopback = 127;
  if (!network) {
    return Refuse(fmt::format("wanted to know in which network NCCL on {} should wait for the "
                              "others, found no IPv4 address of its interface",
                              node),
                  "name the interface: write NCCL_SOCKET_IFNAME into nccl.env");
  }
  const bool reachable = address.bits >> 24 != kLoopback && port != 0;
  if (network->subnet.Contains(address) && reachable) {
    return fmt::format("{}:{}", ToString(address), port);
  }
  return Refuse(
      fmt::format("wanted NCCL on {} to wait for the others in {} ({}), found {} port {}", node,
                  ToString(network->subnet.Network()), network->netdev, ToString(address), port),
      fmt::format("check NCCL_SOCKET_IFNAME and NCCL_COMM_ID on {}", node));
}

}  // namespace reconciler
