#include "reconciler/verify/nccl/judge/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/nccl/evidence/log.h"
#include "reconciler/verify/nccl/judge/transport_causes.h"

namespace reconciler {
namespace {

// An HCA that the collectives use, and what is known of it; a node may have others.
struct UsedRail {
  NodeName node;
  std::string hca;
  spark_verify::Limits limits;
};

std::vector<UsedRail> ListUsedRails(const NcclEvidence& evidence) {
  std::vector<UsedRail> used;
  for (const auto& [node, rails] : evidence.facts) {
    for (const RailPort& port : ListCollectivePorts(evidence.fabric, node)) {
      const auto rail = rails.find(port.hca);
      if (rail != rails.end()) used.push_back({node, port.hca, rail->second.limits});
    }
  }
  return used;
}

bool AreLinksFast(const NcclEvidence& evidence) {
  constexpr int kFast = 100'000;  // Mb/s
  const std::vector<UsedRail> used = ListUsedRails(evidence);
  return !used.empty() && std::none_of(used.begin(), used.end(), [](const UsedRail& rail) {
    return rail.limits.link_mbps > 0 && rail.limits.link_mbps < kFast;
  });
}

std::optional<Cause> ExplainBuild(const NcclRun& run) {
  for (const NcclRank& rank : run.ranks) {
    const NcclLog log = ParseNcclLog(rank.log);
    if (!IsDevelopmentBuild(log)) continue;
    return Cause{
        "nccl-development-build",
        {rank.node},
        fmt::format("the libnccl of {} is no release: {}{}", rank.node, MakePrintable(log.version),
                    log.branch.empty() ? "" : " of branch " + MakePrintable(log.branch)),
        "try a release of NVIDIA's on all nodes"};
  }
  return std::nullopt;
}

}  // namespace

std::vector<NodeName> ListNodes(const NcclRun& run) {
  std::vector<NodeName> nodes;
  for (const NcclRank& rank : run.ranks) nodes.push_back(rank.node);
  return nodes;
}

std::string FormatNcclVersion(const NcclRank& rank) {
  if (!rank.hello || rank.hello->nccl_version <= 0) return {};
  const int version = rank.hello->nccl_version;
  // Up to 2.8 a thousand per major version, from 2.9 ten thousand.
  const int major = version < 10'000 ? version / 1000 : version / 10'000;
  const int minor = version < 10'000 ? version % 1000 / 100 : version % 10'000 / 100;
  return fmt::format("{}.{}.{}", major, minor, version % 100);
}

std::optional<Cause> ExplainNarrowPcie(const NcclEvidence& evidence) {
  for (const auto& [node, hca, limits] : ListUsedRails(evidence)) {
    const NodeSpec* spec = evidence.cluster.FindNode(node);
    const std::string hardware = spec != nullptr ? spec->hardware : std::string();
    if (auto cause = ExplainNarrowPcie(node, hca, hardware, limits)) return cause;
  }
  return std::nullopt;
}

Cause ExplainMissingResults(const NcclRun& run) {
  return {"measurement-invalid", ListNodes(run),
          "results of some rank are missing or cannot be read",
          "run verify again; the same program and libraries must be on all nodes"};
}

Cause ExplainUnknownLinks(const NcclRun& run) {
  return {"links-unknown", ListNodes(run),
          "not all links of these nodes report their speed, so the expected value is unknown",
          "check their speed with ethtool, or set verify.min_busbw in the manifest"};
}

Cause ExplainSmallSize(const NcclRun& run, const std::string& size) {
  std::vector<NodeName> nodes;
  std::uint64_t least = 0;
  for (const NcclRank& rank : run.ranks) {
    if (!rank.hello) continue;
    if (nodes.empty() || rank.hello->max_bytes < least) nodes.clear();
    if (nodes.empty()) least = rank.hello->max_bytes;
    if (rank.hello->max_bytes == least) nodes.push_back(rank.node);
  }
  if (nodes.empty()) nodes = ListNodes(run);
  const std::string names = Join(nodes, ", ");
  return {
      "size-too-small", nodes,
      fmt::format("the memory of {} allows {} only, at which no link can be judged", names, size),
      fmt::format("end programs on {}, and run verify again", names)};
}

std::optional<Cause> ExplainVersions(const NcclRun& run) {
  std::map<std::string, std::vector<NodeName>> versions;
  for (const NcclRank& rank : run.ranks) {
    if (const std::string version = FormatNcclVersion(rank); !version.empty()) {
      versions[version].push_back(rank.node);
    }
  }
  if (versions.size() < 2) return std::nullopt;
  std::vector<std::string> who;
  for (const auto& [version, nodes] : versions) {
    who.push_back(fmt::format("{} on {}", version, Join(nodes, ", ")));
  }
  return Cause{"nccl-versions", ListNodes(run),
               fmt::format("the nodes have loaded different versions of NCCL: {}", Join(who, "; ")),
               "install the same libnccl2 on all nodes, or name one file in nccl.library"};
}

Cause ExplainWrongData(const std::vector<NodeName>& nodes) {
  return {"wrong-data", nodes,
          fmt::format("results that arrived on {} are wrong", Join(nodes, ", ")),
          "run it with NCCL_PROTO: ^LL128 in nccl.env; wrong all the same: memory, cable or HCA"};
}

Cause ExplainImpossible(const NcclRun& run) {
  return {"measurement-invalid", ListNodes(run),
          "the figure cannot be true: no link of these nodes can carry as much",
          "run verify again while nothing else uses the fabric; check the nodes' clocks"};
}

Cause ExplainFlaky(const NcclRun& run) {
  return {"flaky", ListNodes(run), "the first run was not good, and the second one was",
          "run verify again; when it comes back, check cables and dmesg"};
}

Cause ExplainPromise(const NcclRun& run, const std::string& size, double reachable) {
  return {
      "minimum-too-high", ListNodes(run),
      fmt::format("the minimum is more than {} reaches on these links, healthy as they are", size),
      fmt::format(
          "set verify.min_busbw to at most {:.1f} GB/s at this size, or take a larger verify.size",
          reachable)};
}

Cause ExplainSpeed(const NcclEvidence& evidence, const std::vector<RankPath>& paths, double busbw) {
  const bool sockets = std::any_of(paths.begin(), paths.end(), [](const RankPath& path) {
    return path.path == NcclPath::kSocket;
  });
  if (sockets) return ExplainSockets(evidence, paths);
  if (auto narrow = ExplainNarrowPcie(evidence)) return *narrow;
  for (const RankPath& path : paths) {
    if (!path.idle.empty()) return ExplainIdleRail(evidence.run, paths, path.idle.front());
  }
  const std::vector<NodeName> slow = FindNodesAtFault(evidence.pairs);
  const std::vector<NodeName> nodes = slow.empty() ? ListNodes(evidence.run) : slow;
  // A development branch did 3.04 GB/s where the release did 23.74, on the same nodes.
  if (slow.empty()) {
    if (auto build = ExplainBuild(evidence.run)) return *build;
  }
  constexpr double kDegraded = 25.0 / 8;  // GB/s: a ConnectX-7 in its degraded state stays below
  if (busbw < kDegraded && AreLinksFast(evidence) && evidence.hca_is_degraded) {
    return {"hca-degraded", nodes,
            fmt::format("a ConnectX of {} is degraded: both rails work and their links are healthy",
                        Join(nodes, " or ")),
            "shut them down, take their power away for a minute, and update the firmware"};
  }
  if (!slow.empty()) {
    return {"slow-node", slow,
            fmt::format("every run with {} is slow, and those without are not", Join(slow, " or ")),
            fmt::format("run `verify --level rdma`; check load, temperature and PCIe of {}",
                        Join(slow, ", "))};
  }
  if (auto versions = ExplainVersions(evidence.run)) return *versions;
  return {"nccl-slow", nodes, "NCCL is slower than the links, and no measurement explains it",
          "run verify again while nothing else uses the nodes; compare with `verify --level rdma`"};
}

}  // namespace reconciler
