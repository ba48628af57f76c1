#include "reconciler/verify/roofline.h"

#include <algorithm>

namespace reconciler {

double LinkGbps(double link_gbps, int path_mtu) {
  // Ethernet with preamble, gap and checksum 38, IPv4 20, UDP 8, base transport header 12,
  // checksum 4.
  constexpr double kHeaders = 82;
  return path_mtu > 0 ? link_gbps * path_mtu / (path_mtu + kHeaders) : 0;
}

double PcieGbps(int width, double gts) {
  constexpr double kEncoding = 128.0 / 130.0;
  constexpr double kPayload = 256;
  constexpr double kHeaders = 26;
  return width * gts * kEncoding * kPayload / (kPayload + kHeaders);
}

std::optional<double> Roofline(const spark_verify::Limits& from, const spark_verify::Limits& to,
                               int path_mtu, std::size_t sharing) {
  if (from.link_mbps <= 0 || to.link_mbps <= 0 || path_mtu <= 0) return std::nullopt;
  const double link = std::min(from.link_mbps, to.link_mbps) / 1000.0;
  double most = LinkGbps(link, path_mtu) / static_cast<double>(std::max<std::size_t>(sharing, 1));
  for (const spark_verify::Limits& end : {from, to}) {
    if (end.pcie_width > 0 && end.pcie_gts > 0) {
      most = std::min(most, PcieGbps(end.pcie_width, end.pcie_gts));
    }
  }
  return most;
}

}  // namespace reconciler
