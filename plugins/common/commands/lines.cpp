#include "plugins/common/commands/lines.h"

namespace reconciler::plugins {
namespace {

// Of modules the names, which end at the first blank; of a script its first line.
constexpr const char* kPattern =
    "^(ADMIN_STATE=|NETWORK_FILE=|managed=|Cma(Total|Free):|ENABLED=|#!|"
    "(ib_core|ib_uverbs|mlx5_core|mlx5_ib|nvidia|nvidia_uvm|rdma_cm|rdma_rxe|rdma_ucm) )";

}  // namespace

RunProbe MakeLinesProbe() {
  return {
      .id = kLines,
      .argv = {"grep", "-rHsE", kPattern, "/run/systemd/netif/links", "/run/NetworkManager/devices",
               "/proc/meminfo", "/proc/modules", "/etc/ufw/ufw.conf", "/usr/sbin/ufw"},
      .time_limit_s = kLinesLimitS};
}

}  // namespace reconciler::plugins
