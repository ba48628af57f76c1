#include "reconciler/verify/nccl/evidence/transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"
#include "reconciler/verify/nccl/evidence/log.h"

namespace reconciler {
namespace {

using spark_verify::Counters;

constexpr std::uint64_t kCounted = 1u << 20;  // bytes: only tests this large bring counters
constexpr double kIdle = 0.10;                // of what its cage carried

std::optional<double> FindGrowth(const Counters& counters, const std::string& hca,
                                 const std::string& name) {
  const auto device = counters.find(hca);
  if (device == counters.end()) return std::nullopt;
  const auto counter = device->second.find(name);
  if (counter == device->second.end()) return std::nullopt;
  return static_cast<double>(counter->second);
}

// Bytes; nullopt: the port's counters could not be read. Soft-RoCE counts packets only, which are
// at most as large as the largest RDMA MTU.
std::optional<double> FindBytes(const Counters& counters, const std::string& hca, bool sent) {
  constexpr double kOctets = 4;  // the unit of port_xmit_data
  constexpr double kPacket = 4096;
  const auto words = FindGrowth(counters, hca, sent ? "port_xmit_data" : "port_rcv_data");
  const auto packets = FindGrowth(counters, hca, sent ? "sent_pkts" : "rcvd_pkts");
  if (!words && !packets) return std::nullopt;
  return std::max(words.value_or(0) * kOctets, packets.value_or(0) * kPacket);
}

// NCCL moves as many bytes per rank as its bus bandwidth counts.
double ComputeWanted(const spark_verify::NcclResult& result, int ranks) {
  return spark_verify::ComputeBusFactor(result.collective, ranks) *
         static_cast<double>(result.bytes) * result.iterations;
}

// Leaves the path as it is where one HCA's counters could not be read: what it carried would be
// missed.
void Count(RankPath& path, const NcclRank& rank, int ranks) {
  RankPath counted = path;
  for (const spark_verify::NcclResult& result : rank.results) {
    if (result.bytes < kCounted) continue;
    counted.wanted += ComputeWanted(result, ranks);
    for (RailUse& rail : counted.rails) {
      const auto sent = FindBytes(result.counters, rail.hca, true);
      const auto received = FindBytes(result.counters, rail.hca, false);
      if (!sent || !received) return;
      rail.sent += *sent;
      rail.received += *received;
    }
  }
  if (counted.wanted <= 0) return;
  counted.counted = true;
  double sent = 0;
  for (const RailUse& rail : counted.rails) sent += rail.sent;
  counted.path = sent >= counted.wanted / 2 ? NcclPath::kRdma : NcclPath::kSocket;
  path = std::move(counted);
}

NcclPath ParsePath(const std::string& network) {
  if (network == "IB") return NcclPath::kRdma;
  if (network == "Socket") return NcclPath::kSocket;
  return network.empty() ? NcclPath::kUnknown : NcclPath::kOther;
}

std::string DescribeLog(const NcclLog& log) {
  std::vector<std::string> names;
  for (const auto& [channel, count] : log.channels) {
    names.push_back(
        fmt::format("NET/{}/{}{}", channel.network, channel.device, channel.gdr ? "/GDRDMA" : ""));
  }
  if (names.empty() && !log.network.empty()) names.push_back("network " + log.network);
  return MakePrintable(Join(names, ", "));
}

// Believes NCCL: one channel over sockets makes the whole ring wait for it.
void SetPathFromLog(RankPath& path, const NcclLog& log) {
  path.path = ParsePath(log.network);
  for (const auto& [channel, count] : log.channels) {
    path.path = ParsePath(channel.network);
    if (path.path != NcclPath::kRdma) break;
  }
  if (path.path != NcclPath::kRdma) return;
  for (const auto& [channel, count] : log.channels) {
    const auto device = log.devices.find(channel.device);
    if (device == log.devices.end()) continue;
    const std::vector<std::string> fused = Split(device->second, '+');
    for (RailUse& rail : path.rails) {
      if (std::find(fused.begin(), fused.end(), rail.hca) != fused.end()) rail.sent += count;
    }
  }
}

// On a ring a cage may be at rest in one direction, so that only twins are compared.
void FindIdle(RankPath& path) {
  std::map<std::string, double> cages;
  for (const RailUse& rail : path.rails) cages[rail.cage] += rail.sent + rail.received;
  for (const RailUse& rail : path.rails) {
    if (rail.sent + rail.received < kIdle * cages[rail.cage]) path.idle.push_back(rail.rail);
  }
}

}  // namespace

std::string_view ToString(NcclPath path) {
  switch (path) {
    case NcclPath::kUnknown:
      return "unknown";
    case NcclPath::kRdma:
      return "rdma";
    case NcclPath::kSocket:
      return "socket";
    case NcclPath::kOther:
      return "other";
  }
  return "";
}

std::vector<RankPath> ListPaths(const NcclRun& run, const Fabric& fabric,
                                const RailFactsByNode& facts, const std::set<NodeName>& uncounted) {
  std::vector<RankPath> paths;
  for (const NcclRank& rank : run.ranks) {
    RankPath path{.node = rank.node};
    const auto known = facts.find(rank.node);
    bool all_read = known != facts.end() && !uncounted.contains(rank.node);
    for (const RailPort& port : ListCollectivePorts(fabric, rank.node)) {
      path.rails.push_back({.hca = port.hca, .rail = port.rail, .cage = port.cage});
      all_read = all_read && known->second.contains(port.hca);
    }
    const NcclLog log = ParseNcclLog(rank.log);
    path.said = DescribeLog(log);
    if (all_read && !path.rails.empty()) Count(path, rank, static_cast<int>(run.ranks.size()));
    if (!path.counted) SetPathFromLog(path, log);
    if (path.path == NcclPath::kRdma) FindIdle(path);
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace reconciler
