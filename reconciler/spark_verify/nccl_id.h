#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

// ncclUniqueId: 128 bytes that NCCL calls opaque and lays out as its bootstrap handle: 8 bytes of
// magic, then the sockaddr of the listener in rank 0's process (family in the machine's order at
// byte 8; port in network order at 10; IPv4 at 12, or IPv6 at 16), the rest of no meaning here.
using UniqueId = std::array<unsigned char, 128>;

struct UniqueIdAddress {
  std::string address = {};  // 10.0.0.1 or fe80::1
  int port = 0;
  bool ipv6 = false;
};

std::string ToHex(const UniqueId& id);
Result<UniqueId> ParseUniqueId(std::string_view hex);

// Where the other ranks will call rank 0. Errors: a layout that is not the one above.
Result<UniqueIdAddress> AddressOf(const UniqueId& id);

}  // namespace reconciler::spark_verify
