#include "reconciler/spark_verify/protocol/counters.h"

namespace reconciler::spark_verify {
namespace {

// Of these standing still says something: the port carried nothing, which is not "cannot be read".
bool CountsData(const std::string& name) {
  return name == "port_xmit_data" || name == "port_rcv_data" || name == "sent_pkts" ||
         name == "rcvd_pkts";
}

// mlx5's counters of packets have 32 bits; one of more that fell was reset.
std::uint64_t ComputeGrowth(std::uint64_t before, std::uint64_t after) {
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
  if (after >= before) return after - before;
  return before < kWrap ? after + kWrap - before : after;
}

}  // namespace

Counters ComputeGrowth(const Counters& before, const Counters& after) {
  Counters growth;
  for (const auto& [hca, counters] : after) {
    for (const auto& [name, value] : counters) {
      const auto device = before.find(hca);
      if (device == before.end()) continue;
      const auto old = device->second.find(name);
      if (old == device->second.end()) continue;
      if (old->second == value && !CountsData(name)) continue;
      growth[hca][name] = ComputeGrowth(old->second, value);
    }
  }
  return growth;
}

}  // namespace reconciler::spark_verify
