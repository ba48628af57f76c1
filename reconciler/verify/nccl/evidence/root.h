#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/result.h"

namespace reconciler {

// The network that carries NCCL's bootstrap, as rank 0's node is on it.
struct BootstrapNetwork {
  Ipv4Prefix subnet = {};
  std::string netdev = {};
};

// Where rank 0 waits for the others, as its unique id (256 hexadecimal digits) says:
// "192.168.1.21:43321". An error when it is not in that network: the others would call an address
// that they may not reach, and wait for ever. Nor when no one knows that network.
Result<std::string> CheckNcclRoot(std::string_view unique_id,
                                  const std::optional<BootstrapNetwork>& network,
                                  const std::string& node);

}  // namespace reconciler
