#include "reconciler/verify/nccl/judge/transport_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/nccl/evidence/log.h"
#include "reconciler/verify/nccl/evidence/variables.h"

namespace reconciler {
namespace {

struct SocketReason {
  std::string why = {};
  std::string next_step = {};
};

// "NCCL_IB_DISABLE=1 on spark-2 (a file nccl.conf)"
std::string FormatVariable(std::string_view name, const RankVariable& set, const NodeName& node) {
  return fmt::format("{}={}", name, FormatPlace(set, node));
}

// What the rank's variables or its log have against RDMA; nullopt: nothing.
std::optional<SocketReason> FindSocketReason(const NcclRank& rank, const RailFactsByNode& facts) {
  const NcclLog log = ParseNcclLog(rank.log);
  if (const auto set = FindVariable(rank, log, "NCCL_IB_DISABLE");
      set && !set->value.empty() && set->value != "0") {
    return SocketReason{FormatVariable("NCCL_IB_DISABLE", *set, rank.node),
                        "remove NCCL_IB_DISABLE on " + rank.node};
  }
  if (const auto set = FindVariable(rank, log, "NCCL_NET"); set && set->value == "Socket") {
    return SocketReason{FormatVariable("NCCL_NET", *set, rank.node),
                        "remove NCCL_NET on " + rank.node};
  }
  if (log.no_libibverbs) {
    return SocketReason{fmt::format("NCCL on {} finds no libibverbs", rank.node),
                        fmt::format("install libibverbs1 on {}", rank.node)};
  }
  const auto set = FindVariable(rank, log, "NCCL_IB_HCA");
  const auto hcas = facts.find(rank.node);
  if (!log.no_ib_device || !set || hcas == facts.end() || hcas->second.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (const auto& [name, rail] : hcas->second) names.push_back(MakePrintable(name));
  return SocketReason{
      fmt::format("NCCL finds no HCA for {}, which has {}",
                  FormatVariable("NCCL_IB_HCA", *set, rank.node), Join(names, ", ")),
      fmt::format("name these in NCCL_IB_HCA, or remove it; check `rdma link` on {}", rank.node)};
}

// "NCCL_IB_HCA==rocep1s0f1 on spark-2 leaves out roceP2p1s0f1"; empty: that is not why.
std::string FindLeftOut(const NcclRun& run, const RankPath& path, int rail) {
  const auto rank = std::find_if(run.ranks.begin(), run.ranks.end(),
                                 [&](const NcclRank& one) { return one.node == path.node; });
  const auto use = std::find_if(path.rails.begin(), path.rails.end(),
                                [&](const RailUse& one) { return one.rail == rail; });
  if (rank == run.ranks.end() || use == path.rails.end()) return {};
  const NcclLog log = ParseNcclLog(rank->log);
  const auto set = FindVariable(*rank, log, "NCCL_IB_HCA");
  if (!set || log.devices.empty()) return {};
  for (const auto& [index, name] : log.devices) {
    const std::vector<std::string> fused = Split(name, '+');
    if (std::find(fused.begin(), fused.end(), use->hca) != fused.end()) return {};
  }
  return fmt::format("{} leaves out {}", FormatVariable("NCCL_IB_HCA", *set, path.node), use->hca);
}

}  // namespace

Cause ExplainSockets(const NcclEvidence& evidence, const std::vector<RankPath>& paths) {
  std::vector<NodeName> nodes;
  bool denied = true;  // NCCL says RDMA, and the counters say no
  for (const RankPath& path : paths) {
    if (path.path != NcclPath::kSocket) continue;
    nodes.push_back(path.node);
    denied = denied && path.counted && path.said.find("NET/IB") != std::string::npos;
  }
  const std::string names = Join(nodes, ", ");
  if (denied) {
    return {
        "nccl-socket", nodes,
        fmt::format("NCCL reports RDMA on {}, but the counters of the rails grew by less", names),
        fmt::format("check NCCL_IB_HCA on {}: other ports than the manifest's were used", names)};
  }
  Cause cause{
      "nccl-socket", nodes, fmt::format("NCCL uses TCP sockets instead of RDMA on {}", names),
      fmt::format("check `rdma link`, libibverbs1, NCCL_IB_HCA and NCCL_IB_DISABLE on {}", names)};
  for (const NcclRank& rank : evidence.run.ranks) {
    // NCCL takes sockets on all nodes as soon as one has no RDMA.
    const auto reason = FindSocketReason(rank, evidence.facts);
    if (!reason) continue;
    cause.cause += ": " + reason->why;
    cause.next_step = reason->next_step;
    break;
  }
  return cause;
}

Cause ExplainIdleRail(const NcclRun& run, const std::vector<RankPath>& paths, int rail) {
  std::vector<NodeName> nodes;
  std::string left_out;
  for (const RankPath& path : paths) {
    if (std::find(path.idle.begin(), path.idle.end(), rail) == path.idle.end()) continue;
    nodes.push_back(path.node);
    if (left_out.empty()) left_out = FindLeftOut(run, path, rail);
  }
  const std::string names = Join(nodes, ", ");
  Cause cause{
      "one-rail", nodes, fmt::format("NCCL leaves {} idle on {}", FormatRailName(rail), names),
      fmt::format("check NCCL_IB_HCA and that rail's GIDs on {} (`rdma link`, `ip addr`)", names)};
  if (!left_out.empty()) {
    cause.cause += ": " + left_out;
    cause.next_step = "name the HCAs of both rails in NCCL_IB_HCA, or remove it";
  }
  return cause;
}

}  // namespace reconciler
