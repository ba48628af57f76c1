#include "reconciler/verify/rdma/judge/counters.h"

#include <algorithm>
#include <set>

namespace reconciler {
namespace {

using Hca = std::pair<NodeName, std::string>;

constexpr Direction kSent = {"port_xmit_data", "sent_pkts"};
constexpr Direction kReceived = {"port_rcv_data", "rcvd_pkts"};
constexpr double kMoved = 0.5;     // of the bytes written: they are counted there
constexpr double kNothing = 0.01;  // of them: connections alone

double FindCount(const spark_verify::Counters& growth, const std::string& hca,
                 std::string_view name) {
  const auto device = growth.find(hca);
  if (device == growth.end()) return 0;
  const auto counter = device->second.find(std::string(name));
  return counter == device->second.end() ? 0 : static_cast<double>(counter->second);
}

bool HasCounters(const Side& side, const std::string& hca) {
  const auto device = side.growth.find(hca);
  return device != side.growth.end() && !device->second.empty();
}

// What the transfers show of each HCA.
struct Seen {
  std::map<Hca, std::string> cages = {};  // of all that were written to or from
  std::set<Hca> own = {};                 // counted what they carried
  std::set<Hca> others = {};              // counted another one's data while they rested
  std::map<NodeName, bool> counts = {};   // whether any HCA of the node counted anything
};

void See(const Transfer& transfer, const Side& side, const std::map<Hca, std::string>& cages,
         Seen& seen) {
  double bytes = 0;
  std::set<std::string> used;
  std::map<std::string, double> written;  // by cage
  int mtu = 0;
  bool readable = false;
  for (const RailWrite& rail : transfer.rails) {
    const RailEnd& end = rail.*side.end;
    mtu = std::min(rail.from.active_mtu, rail.to.active_mtu);
    used.insert(end.hca);
    written[end.cage] += static_cast<double>(rail.bytes);
    bytes += static_cast<double>(rail.bytes);
    readable = readable || HasCounters(side, end.hca);
    const double carried = CountBytes(side, end.hca, mtu);
    if (carried >= kMoved * static_cast<double>(rail.bytes)) seen.own.insert({side.node, end.hca});
  }
  if (bytes <= 0 || !readable) return;
  bool& counts = seen.counts[side.node];
  for (const auto& [hca, counters] : side.growth) {
    const double carried = CountBytes(side, hca, mtu);
    counts = counts || carried > kNothing * bytes;
    const auto cage = cages.find({side.node, hca});
    if (used.contains(hca) || cage == cages.end()) continue;
    const double of_cage = written.contains(cage->second) ? written.at(cage->second) : 0;
    if (of_cage > 0 && carried >= kMoved * of_cage) seen.others.insert({side.node, hca});
  }
}

}  // namespace

std::array<Side, 2> ListSides(const Transfer& transfer) {
  return {Side{transfer.from, transfer.from_counters, &RailWrite::from, kSent},
          Side{transfer.to, transfer.to_counters, &RailWrite::to, kReceived}};
}

double CountData(const Side& side, const std::string& hca) {
  constexpr double kOctets = 4;  // the unit of port_xmit_data
  return kOctets * FindCount(side.growth, hca, side.direction.data);
}

double CountBytes(const Side& side, const std::string& hca, int mtu) {
  const double data = CountData(side, hca);
  return data > 0 ? data : mtu * FindCount(side.growth, hca, side.direction.packets);
}

CounterScopes FindCounterScopes(const std::vector<Transfer>& transfers) {
  Seen seen;
  for (const Transfer& transfer : transfers) {
    for (const RailWrite& rail : transfer.rails) {
      seen.cages[{transfer.from, rail.from.hca}] = rail.from.cage;
      seen.cages[{transfer.to, rail.to.hca}] = rail.to.cage;
    }
  }
  for (const Transfer& transfer : transfers) {
    if (transfer.run_error || !transfer.skipped.empty()) continue;
    for (const Side& side : ListSides(transfer)) See(transfer, side, seen.cages, seen);
  }
  CounterScopes scopes;
  for (const auto& [hca, cage] : seen.cages) {
    const auto counts = seen.counts.find(hca.first);
    if (counts != seen.counts.end() && !counts->second) scopes[hca] = CounterScope::kNone;
    if (seen.own.contains(hca) && seen.others.contains(hca)) scopes[hca] = CounterScope::kCage;
  }
  return scopes;
}

CounterScope GetScope(const CounterScopes& scopes, const NodeName& node, const std::string& hca) {
  const auto found = scopes.find({node, hca});
  return found == scopes.end() ? CounterScope::kFunction : found->second;
}

}  // namespace reconciler
