#include "plugins/nccl/gpu.h"

#include <fmt/format.h>

#include "plugins/common/gpu/gpu_reach.h"

namespace reconciler::plugins::nccl {
namespace {

// The manifest's `gpudirect: dmabuf` declares what no file shows; what rules it out stands.
bool Counts(const GpuReach& reach, const std::optional<GpuSection>& gpu) {
  const bool promised = gpu && gpu->mode == GpuMode::kDmabuf;
  return reach.answer == GpuReach::Answer::kYes ||
         (promised && reach.answer == GpuReach::Answer::kUndecided);
}

std::string ExplainDirect(const GpuReach& reach) {
  return reach.answer == GpuReach::Answer::kYes ? reach.why
                                                : "gpudirect: dmabuf says so in the manifest";
}

ModeDecision DecideDmabuf(const GpuReach& own) {
  ModeDecision decision{.direct = true,
                        .why = "mode dmabuf: the HCA may read GPU memory at any distance"};
  if (own.answer == GpuReach::Answer::kNo)
    decision.blocked = "mode dmabuf cannot hold here: " + DescribeWithDriver(own);
  if (own.answer == GpuReach::Answer::kUnknown) {
    decision.blocked = "cannot determine whether mode dmabuf holds here: " + own.why;
  }
  return decision;
}

}  // namespace

bool NeedsSparkVerify(const ClusterSpec& cluster, const NodeFacts& facts) {
  const auto section = ReadSection(cluster, facts.node);
  return section && section->mode != Mode::kSafe &&
         IsWorthQuerying(ReadGpuSection(cluster, facts.node), facts);
}

ModeDecision DecideMode(const Section& section, const ClusterSpec& cluster, const NodeFacts& facts,
                        const ClusterFacts& all) {
  if (section.mode == Mode::kSafe) return {.why = "mode safe: GPU memory goes through the host's"};
  const std::optional<GpuSection> gpu = ReadGpuSection(cluster, facts.node);
  const GpuReach own = JudgeReach(gpu, facts);
  if (section.mode == Mode::kDmabuf) return DecideDmabuf(own);
  // What could not be read decides nothing, here as on a peer: see below.
  if (!Counts(own, gpu) && own.answer != GpuReach::Answer::kUnknown) {
    return {.why = "mode auto is safe here: " + own.why};
  }
  // By name, so that the order of the manifest does not show in a file.
  for (const auto& [name, peer] : all.nodes) {
    if (const auto other = ReadSection(cluster, name); other && other->mode == Mode::kSafe) {
      return {.why = fmt::format("mode auto is safe here because {} has mode safe", name)};
    }
    const std::optional<GpuSection> gpu_of_peer = ReadGpuSection(cluster, name);
    const GpuReach reach = JudgeReach(gpu_of_peer, peer);
    if (!Counts(reach, gpu_of_peer) && reach.answer != GpuReach::Answer::kUnknown) {
      return {.why = fmt::format("mode auto is safe here because of {}: {}", name, reach.why)};
    }
  }
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = all.nodes.find(node.name);
    const std::optional<GpuSection> gpu_of_peer = ReadGpuSection(cluster, node.name);
    const GpuReach reach = found != all.nodes.end() ? JudgeReach(gpu_of_peer, found->second)
                                                    : GpuReach{.answer = GpuReach::Answer::kUnknown,
                                                               .why = "it was not read"};
    if (Counts(reach, gpu_of_peer)) continue;
    return {.blocked = fmt::format("cannot determine what mode auto is, because of {}: {}",
                                   node.name, reach.why)};
  }
  return {.direct = true, .why = "mode auto is dmabuf here: " + ExplainDirect(own)};
}

}  // namespace reconciler::plugins::nccl
