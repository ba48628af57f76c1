#pragma once

#include <array>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

// ncclUniqueId: 128 bytes that NCCL calls opaque and lays out as its bootstrap handle: 8 bytes of
// magic, then the sockaddr of the listener in rank 0's process (family in the machine's order at
// byte 8; port in network order at 10; IPv4 at 12, or IPv6 at 16), the rest of no meaning. The
// controller decodes it; here it is only carried.
using UniqueId = std::array<unsigned char, 128>;

std::string ToHex(const UniqueId& id);
Result<UniqueId> ParseUniqueId(std::string_view hex);

}  // namespace reconciler::spark_verify
