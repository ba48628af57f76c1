#include "reconciler/verify/nccl_root.h"

#include <fmt/format.h>

#include "reconciler/spark_verify/nccl_id.h"

namespace reconciler {

Result<std::string> CheckNcclRoot(std::string_view unique_id, const BootstrapNetwork& network,
                                  const std::string& node) {
  const auto id = spark_verify::ParseUniqueId(unique_id);
  if (!id) return Fail(id.error());
  const auto root = spark_verify::AddressOf(*id);
  if (!root) return Fail(root.error());
  const auto address = ParseIpv4(root->address);
  if (address && network.subnet.Contains(*address) && root->port != 0) {
    return fmt::format("{}:{}", root->address, root->port);
  }
  return Fail({.kind = ErrorKind::kVerify,
               .message = fmt::format("wanted NCCL on {} to wait for the others in {} ({}), found "
                                      "{} port {}",
                                      node, ToString(network.subnet.Network()), network.netdev,
                                      root->address, root->port),
               .hint = fmt::format("look at NCCL_SOCKET_IFNAME, NCCL_SOCKET_FAMILY and "
                                   "NCCL_COMM_ID on {}",
                                   node)});
}

}  // namespace reconciler
