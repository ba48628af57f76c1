#include "reconciler/verify/rdma/judge/proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/rdma/judge/counters.h"

namespace reconciler {
namespace {

constexpr double kProof = 0.9;      // of the bytes written: a counter may be read a moment early
constexpr double kElsewhere = 0.5;  // of them, beyond what another HCA carried for itself
constexpr double kBusy = 0.2;       // of them, beyond what this HCA carried for us

// The HCA of that node that carried this rail's bytes beside its own; "": none.
std::string DescribeElsewhere(const Transfer& transfer, const RailWrite& rail, const Side& side,
                              int mtu) {
  for (const auto& [hca, counters] : side.growth) {
    if (hca == (rail.*side.end).hca) continue;
    double own = 0;
    for (const RailWrite& other : transfer.rails) {
      if ((other.*side.end).hca == hca) own += static_cast<double>(other.bytes);
    }
    const double carried = CountBytes(side, hca, mtu);
    if (carried - own >= kElsewhere * static_cast<double>(rail.bytes)) return hca;
  }
  return {};
}

Cause MakeUnprovenCause(const RailWrite& rail, const Side& side) {
  return Cause{"rail-unproven",
               {side.node},
               fmt::format("no counter of {} shows that {} carried the data", side.node,
                           FormatRailName(rail.rail)),
               fmt::format("check /sys/class/infiniband/{}/ports/1/counters on {}",
                           (rail.*side.end).hca, side.node)};
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
  return {.measured = measured, .cause = MakeUnprovenCause(rail, side)};
}

// What this program wrote over the rails that share those counters.
double SumBytes(const Transfer& transfer, const RailWrite& rail, const Side& side,
                CounterScope scope) {
  if (scope != CounterScope::kCage) return static_cast<double>(rail.bytes);
  double bytes = 0;
  for (const RailWrite& other : transfer.rails) {
    if ((other.*side.end).cage == (rail.*side.end).cage) bytes += static_cast<double>(other.bytes);
  }
  return bytes;
}

}  // namespace

std::optional<Unproven> FindUnproven(const Transfer& transfer, const RailWrite& rail,
                                     const CounterScopes& scopes) {
  const int mtu = std::min(rail.from.active_mtu, rail.to.active_mtu);
  for (const Side& side : ListSides(transfer)) {
    const std::string& hca = (rail.*side.end).hca;
    if (GetScope(scopes, side.node, hca) == CounterScope::kNone) continue;
    const double carried = CountBytes(side, hca, mtu);
    if (carried < kProof * static_cast<double>(rail.bytes)) {
      return Explain(transfer, rail, side, mtu, carried);
    }
  }
  return std::nullopt;
}

std::optional<Cause> FindUncounted(const Transfer& transfer, const RailWrite& rail,
                                   const CounterScopes& scopes) {
  for (const Side& side : ListSides(transfer)) {
    const std::string& hca = (rail.*side.end).hca;
    if (GetScope(scopes, side.node, hca) != CounterScope::kNone) continue;
    return MakeUnprovenCause(rail, side);
  }
  return std::nullopt;
}

std::optional<Cause> FindBusy(const Transfer& transfer, const RailWrite& rail,
                              const CounterScopes& scopes) {
  for (const Side& side : ListSides(transfer)) {
    const std::string& hca = (rail.*side.end).hca;
    const double written = SumBytes(transfer, rail, side, GetScope(scopes, side.node, hca));
    if (CountData(side, hca) < (1 + kBusy) * written) continue;
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
