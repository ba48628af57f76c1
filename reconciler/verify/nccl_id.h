#pragma once

#include <string>
#include <string_view>

#include "reconciler/base/result.h"
#include "reconciler/model/ipv4.h"

namespace reconciler {

inline constexpr std::size_t kNcclIdBytes = 128;

// Where NCCL's first rank waits for the others, as its unique id says.
struct NcclRoot {
  Ipv4Address address = {};
  int port = 0;
};

// `hex`: the 128 bytes as 256 hexadecimal digits: 8 bytes of magic, then a sockaddr (family as the
// node has it, little-endian; port and address in network order), zeros.
Result<NcclRoot> DecodeNcclId(std::string_view hex);

// Every other node must reach the address, so that it has to be in the network that carries the
// bootstrap. `netdev`: the interface of that network on `node`.
Result<void> CheckNcclRoot(const NcclRoot& root, const Ipv4Prefix& bootstrap,
                           const std::string& node, const std::string& netdev);

}  // namespace reconciler
