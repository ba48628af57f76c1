#include "reconciler/verify/rdma/judge/proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"

namespace reconciler {
namespace {

using spark_verify::Counters;

constexpr double kProof = 0.9;      // of the bytes written: a counter may be read a moment early
constexpr double kElsewhere = 0.5;  // of them, beyond what another HCA carried for itself
constexpr double kBusy = 0.2;       // of them, beyond what this HCA carried for us

// Counters of one direction. Octets are counted by four.
struct Direction {
  std::string_view data;     // mlx5, in units of 4 bytes
  std::string_view packets;  // soft-RoCE
};
constexpr Direction kSent = {"port_xmit_data", "sent_pkts"};
constexpr Direction kReceived = {"port_rcv_data", "rcvd_pkts"};

double FindCount(const Counters& growth, const std::string& hca, std::string_view name) {
  const auto device = growth.find(hca);
  if (device == growth.end()) return 0;
  const auto counter = device->second.find(std::string(name));
  return counter == device->second.end() ? 0 : static_cast<double>(counter->second);
}

double ComputeBytes(const Counters& growth, const std::string& hca, const Direction& direction,
                    int mtu) {
  const double data = 4 * FindCount(growth, hca, direction.data);
  return data > 0 ? data : mtu * FindCount(growth, hca, direction.packets);
}

struct Side {
  const NodeName& node;
  const Counters& growth;
  RailEnd RailWrite::*end;
  const Direction& direction;
};

// The HCA of that node that carried this rail's bytes beside its own; "": none.
std::string DescribeElsewhere(const Transfer& transfer, const RailWrite& rail, const Side& side,
                              int mtu) {
  for (const auto& [hca, counters] : side.growth) {
    if (hca == (rail.*side.end).hca) continue;
    double own = 0;
    for (const RailWrite& other : transfer.rails) {
      if ((other.*side.end).hca == hca) own += static_cast<double>(other.bytes);
    }
    const double carried = ComputeBytes(side.growth, hca, side.direction, mtu);
    if (carried - own >= kElsewhere * static_cast<double>(rail.bytes)) return hca;
  }
  return {};
}

Unproven Explain(const Transfer& transfer, const RailWrite& rail, const Side& side, int mtu,
                 double carried) {
  const std::string& hca = (rail.*side.end).hca;
  const std::string other = DescribeElsewhere(transfer, rail, side, mtu);
  const std::string measured =
      fmt::format("{:.1f} MB of {:.1f} MB by the counters of {} on {}", carried / 1e6,
                  static_cast<double>(rail.bytes) / 1e6, hca, side.node);
  if (!other.empty()) {
    return {.fails = true,
            .measured = measured,
            .cause = {"wrong-rail",
                      {side.node},
                      fmt::format("{} of {} carried the data of {}", MakePrintable(other),
                                  side.node, FormatRailName(rail.rail)),
                      fmt::format("check `rdma link` on {}: which HCA belongs to {}", side.node,
                                  (rail.*side.end).netdev)}};
  }
  return {.measured = measured,
          .cause = {"rail-unproven",
                    {side.node},
                    fmt::format("no counter of {} shows that {} carried the data", side.node,
                                FormatRailName(rail.rail)),
                    fmt::format("check /sys/class/infiniband/{}/ports/1/counters on {}", hca,
                                side.node)}};
}

std::array<Side, 2> ListSides(const Transfer& transfer) {
  return {Side{transfer.from, transfer.from_counters, &RailWrite::from, kSent},
          Side{transfer.to, transfer.to_counters, &RailWrite::to, kReceived}};
}

}  // namespace

std::optional<Unproven> FindUnproven(const Transfer& transfer, const RailWrite& rail) {
  const int mtu = std::min(rail.from.active_mtu, rail.to.active_mtu);
  for (const Side& side : ListSides(transfer)) {
    const double carried = ComputeBytes(side.growth, (rail.*side.end).hca, side.direction, mtu);
    if (carried < kProof * static_cast<double>(rail.bytes)) {
      return Explain(transfer, rail, side, mtu, carried);
    }
  }
  return std::nullopt;
}

std::optional<Cause> FindBusy(const Transfer& transfer, const RailWrite& rail) {
  for (const Side& side : ListSides(transfer)) {
    const std::string& hca = (rail.*side.end).hca;
    const double carried = 4 * FindCount(side.growth, hca, side.direction.data);
    if (carried < (1 + kBusy) * static_cast<double>(rail.bytes)) continue;
    return Cause{"fabric-busy",
                 {side.node},
                 fmt::format("something else uses {} of {} at the same time", hca, side.node),
                 fmt::format("check which process that is (`rdma resource show qp` on {}), and run "
                             "verify again without it",
                             side.node)};
  }
  return std::nullopt;
}

}  // namespace reconciler
