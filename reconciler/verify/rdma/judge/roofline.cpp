#include "reconciler/verify/rdma/judge/roofline.h"

#include <algorithm>

#include "reconciler/fabric/roofline.h"

namespace reconciler {
namespace {

// How many rails of the transfer share `part` with this one; one where nothing is known of it.
double CountSharing(const Transfer& transfer, const RailWrite& rail, RailEnd RailWrite::*end,
                    std::string RailEnd::*part) {
  const std::string& own = rail.*end.*part;
  if (own.empty()) return 1;
  return static_cast<double>(
      std::count_if(transfer.rails.begin(), transfer.rails.end(),
                    [&](const RailWrite& other) { return other.*end.*part == own; }));
}

}  // namespace

std::optional<double> ComputeRoofline(const Transfer& transfer, const RailWrite& rail) {
  const int mtu = std::min(rail.from.active_mtu, rail.to.active_mtu);
  std::optional<double> most;
  for (RailEnd RailWrite::*end : {&RailWrite::from, &RailWrite::to}) {
    const spark_verify::Limits& limits = (rail.*end).limits;
    if (limits.link_mbps <= 0) return std::nullopt;
    const double link = ComputeRdmaWirePayload(limits.link_mbps / 1000.0, mtu) /
                        CountSharing(transfer, rail, end, &RailEnd::cage);
    most = std::min(most.value_or(link), link);
    if (limits.pcie_width <= 0 || limits.pcie_gts <= 0) continue;
    most = std::min(*most, ComputePciePayload(limits.pcie_gts, limits.pcie_width) /
                               CountSharing(transfer, rail, end, &RailEnd::pcie));
  }
  if (transfer.uplink_gbps > 0) {
    most = std::min(*most, transfer.uplink_gbps / static_cast<double>(transfer.rails.size()));
  }
  return most;
}

SharedSpeed ComputeSharedSpeed(const Transfer& transfer, const RailWrite& rail) {
  SharedSpeed shared;
  for (const RailWrite& other : transfer.rails) {
    const bool is_shared =
        other.rail == rail.rail || (!rail.from.cage.empty() && other.from.cage == rail.from.cage &&
                                    other.to.cage == rail.to.cage);
    const auto roofline = is_shared ? ComputeRoofline(transfer, other) : std::nullopt;
    if (!roofline) continue;
    shared.gbps += other.gbps;
    shared.roofline += *roofline;
  }
  const Transfer alone{.rails = {rail}, .uplink_gbps = transfer.uplink_gbps};
  shared.alone = ComputeRoofline(alone, rail).value_or(0);
  return shared;
}

}  // namespace reconciler
