#include "reconciler/spark_verify/nccl_id.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

namespace reconciler::spark_verify {
namespace {

constexpr std::size_t kFamily = 8;  // low byte first: both machine types are little-endian
constexpr std::size_t kPort = 10;   // high byte first
constexpr std::size_t kIpv4 = 12;
constexpr std::size_t kIpv6 = 16;

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string ToHex(const UniqueId& id) {
  std::string text;
  for (const unsigned char byte : id) text += fmt::format("{:02x}", byte);
  return text;
}

Result<UniqueId> ParseUniqueId(std::string_view hex) {
  UniqueId id = {};
  const bool digits = std::all_of(hex.begin(), hex.end(), [](char c) { return Digit(c) >= 0; });
  if (hex.size() != 2 * id.size() || !digits) {
    return Fail(
        {.kind = ErrorKind::kVerify,
         .message = fmt::format("wanted a unique id of {} hexadecimal digits, found {} characters",
                                2 * id.size(), hex.size())});
  }
  for (std::size_t i = 0; i < id.size(); ++i) {
    id[i] = static_cast<unsigned char>(Digit(hex[2 * i]) << 4 | Digit(hex[2 * i + 1]));
  }
  return id;
}

Result<UniqueIdAddress> AddressOf(const UniqueId& id) {
  const int family = id[kFamily] | id[kFamily + 1] << 8;
  if (family != AF_INET && family != AF_INET6) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted rank 0's address in its unique id, found the "
                                        "address family {}",
                                        family),
                 .hint = "this NCCL lays its unique id out in another way"});
  }
  UniqueIdAddress found{.port = id[kPort] << 8 | id[kPort + 1], .ipv6 = family == AF_INET6};
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(family, id.data() + (found.ipv6 ? kIpv6 : kIpv4), text, sizeof text);
  found.address = text;
  return found;
}

}  // namespace reconciler::spark_verify
