#include "reconciler/verify/nccl/judge/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/text.h"
#include "reconciler/verify/nccl/evidence/log.h"
#include "reconciler/verify/nccl/evidence/variables.h"
#include "reconciler/verify/nccl/judge/causes.h"

namespace reconciler {
namespace {

constexpr std::string_view kGidIndex = "NCCL_IB_GID_INDEX";

// One end of a connection, as NCCL names it.
struct End {
  std::string gid = {};            // "::ffff:192.168.177.2", "fe80::…"; empty: not named
  const RailPort* port = nullptr;  // of the fabric, with that address; nullptr: none
};

// The word behind `sign`; empty: `said` has no sign.
std::string FindWord(const std::string& said, std::string_view sign) {
  const std::size_t at = said.find(sign);
  if (at == std::string::npos) return {};
  const std::string_view rest = Trim(std::string_view(said).substr(at + sign.size()));
  return MakePrintable(rest.substr(0, rest.find_first_of(" ,\n")));
}

// The GID behind `sign`, whose word has colons: "local GID index 3, local GID ::1" has another one.
std::string FindGid(const std::string& said, std::string_view sign) {
  for (std::size_t at = said.find(sign); at != std::string::npos; at = said.find(sign, at + 1)) {
    const std::string word = FindWord(said.substr(at), sign);
    if (word.find(':') != std::string::npos) return word;
  }
  return {};
}

const RailPort* FindPort(std::string_view gid, const Fabric& fabric) {
  constexpr std::string_view kMapped = "::ffff:";
  if (!gid.starts_with(kMapped)) return nullptr;
  const auto address = ParseIpv4(gid.substr(kMapped.size()));
  if (!address) return nullptr;
  for (const auto& [node, ports] : fabric.ports) {
    for (const RailPort& port : ports) {
      if (port.address.address == *address) return &port;
    }
  }
  return nullptr;
}

// "local GID ::1, remote GID ::2" of a connection that was not made; "localGid ::1 remoteGids ::2"
// of one that broke.
End FindEnd(const std::string& said, std::string_view sign, std::string_view sign_when_broken,
            const Fabric& fabric) {
  End end{.gid = FindGid(said, sign)};
  if (end.gid.empty()) end.gid = FindGid(said, sign_when_broken);
  end.port = FindPort(end.gid, fabric);
  return end;
}

std::string FormatHca(const RailPort& port) {
  return fmt::format("{} of {}", port.hca.empty() ? port.netdev : port.hca, port.node);
}

// An NCCL that does not look at subnets pairs the first HCAs of both nodes. Where each cable leads
// to another neighbour, no cable joins these.
Cause MakeCrossed(const RailPort& local, const RailPort& remote, const NcclRunError& run_error,
                  const NcclRun& run) {
  std::string loaded;
  for (const NcclRank& rank : run.ranks) {
    const std::string version = rank.node == run_error.node ? FormatNcclVersion(rank) : "";
    if (!version.empty()) loaded = fmt::format("; {} has loaded NCCL {}", rank.node, version);
  }
  return {"subnets-crossed",
          {local.node, remote.node},
          fmt::format("NCCL joined {} on {} with {} on {}, and no cable joins these{}",
                      FormatHca(local), FormatRailName(local.rail), FormatHca(remote),
                      FormatRailName(remote.rail), loaded),
          "use NCCL 2.30.7 or later on all nodes (nccl.library names the file), with "
          "NCCL_IB_SUBNET_AWARE_ROUTING=1 and NCCL_IB_MERGE_NICS=0"};
}

Cause MakeUnreached(const RailPort& local, const RailPort& remote, bool is_broken) {
  const std::string rail = FormatRailName(remote.rail);
  const std::string peer = ToString(remote.address.address);
  if (is_broken) {
    return {"no-acknowledgement",
            {local.node, remote.node},
            fmt::format("what {} writes to {} on {} is not acknowledged: the rail broke, or loses "
                        "everything",
                        FormatHca(local), FormatHca(remote), rail),
            fmt::format("check `ip link` of both ends of {}, the cable and a switch's MTU and VLAN",
                        rail)};
  }
  return {"no-connection",
          {local.node, remote.node},
          fmt::format("{} does not reach {} on {}", FormatHca(local), FormatHca(remote), rail),
          fmt::format("ping {} from {} through {}; check the cable and the addresses of that rail",
                      peer, local.node, local.netdev)};
}

// A GID that is no address of the fabric. The node at that end chose it: by an index that a
// variable gives, or since its port has another address too. The one that reports is the local end.
Cause MakeWrongGid(const End& end, bool is_local, const std::string& index,
                   const NcclRunError& run_error, const NcclRun& run) {
  std::vector<NodeName> nodes;
  std::vector<NodeName> with_variable;
  std::string who;
  for (const NcclRank& rank : run.ranks) {
    if ((rank.node == run_error.node) != is_local) continue;
    nodes.push_back(rank.node);
    const auto set = FindVariable(rank, ParseNcclLog(rank.log), kGidIndex);
    if (!set) continue;
    with_variable.push_back(rank.node);
    who += fmt::format("{}{}={}", who.empty() ? "" : ", ", kGidIndex, FormatPlace(*set, rank.node));
  }
  if (!with_variable.empty()) nodes = with_variable;
  if (nodes.empty()) nodes = {run_error.node};
  const std::string used =
      index.empty() ? end.gid : fmt::format("{} (local GID index {})", end.gid, index);
  return {"gid-wrong", nodes,
          fmt::format("NCCL on {} uses the GID {}, which is no address of the fabric{}",
                      Join(nodes, " or "), used, who.empty() ? "" : ": " + who),
          who.empty() ? "check NCCL_IB_HCA, and take other addresses off the port: NCCL uses the "
                        "first one (`ip addr`)"
                      : fmt::format("remove {}: NCCL finds the GID of each HCA itself", kGidIndex)};
}

}  // namespace

std::optional<Cause> ExplainConnection(const std::string& said, const NcclRunError& run_error,
                                       const NcclRun& run, const Fabric& fabric) {
  const bool is_refused = said.find("ibv_modify_qp failed") != std::string::npos;
  const bool is_broken = said.find("IBV_WC_RETRY_EXC_ERR") != std::string::npos ||
                         said.find("status=12") != std::string::npos;
  if (!is_refused && !is_broken) return std::nullopt;
  const End local = FindEnd(said, "local GID ", "localGid", fabric);
  const End remote = FindEnd(said, "remote GID ", "remoteGids", fabric);
  const bool has_both = local.port != nullptr && remote.port != nullptr;
  if (has_both && local.port->rail == remote.port->rail) {
    return MakeUnreached(*local.port, *remote.port, !is_refused);
  }
  if (has_both) return MakeCrossed(*local.port, *remote.port, run_error, run);
  if (fabric.ports.empty()) return std::nullopt;
  if (local.port == nullptr && !local.gid.empty()) {
    return MakeWrongGid(local, true, FindWord(said, "local GID index "), run_error, run);
  }
  if (remote.port == nullptr && !remote.gid.empty()) {
    return MakeWrongGid(remote, false, "", run_error, run);
  }
  return std::nullopt;
}

}  // namespace reconciler
