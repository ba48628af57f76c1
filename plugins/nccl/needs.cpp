#include "plugins/nccl/needs.h"

#include <algorithm>

#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

// The first collective that verify measures and that no tree can do; all_gather is measured by
// default.
std::string FindGather(const ClusterSpec& cluster) {
  const Value* list = cluster.settings.At({"verify", "collectives"});
  if (list == nullptr) return "all_gather";
  for (const Value& entry : list->List()) {
    const std::string name = entry.ScalarText();
    if (name == "all_gather" || name == "reduce_scatter") return name;
  }
  return {};
}

Environment MakeNeeds(const ClusterSpec& cluster, bool cages_differ) {
  Environment needs;
  if (cages_differ) {
    needs.push_back(
        {"NCCL_IB_MERGE_NICS", "0",
         "each cage leads to another neighbour: fused into one device, both would fit neither"});
    needs.push_back({"NCCL_NET_PLUGIN", "none",
                     "the choice by subnet is part of NCCL's own transport, not of a plugin's"});
    needs.push_back({std::string(kSubnetAware), "1",
                     "pairs the two HCAs of one cable, by their subnet; from NCCL 2.30.7"});
  }
  // A ring of four or more: not every two nodes share a cable, so that only rings may be built.
  if (cluster.fabric.ring_collectives_only) {
    needs.push_back({"NCCL_ALGO", "Ring",
                     "ring: collectives-only; a tree or a chain would join nodes that share no "
                     "cable"});
    needs.push_back(
        {"NCCL_CUMEM_ENABLE", "1",
         "connections are made when they are first needed, so that none is tried across the ring"});
  }
  return needs;
}

}  // namespace

Environment ListNeeds(const ClusterSpec& cluster, const Fabric& fabric) {
  return MakeNeeds(cluster, CagesDiffer(fabric));
}

LintContext MakeLintContext(const Section& section, const ClusterSpec& cluster,
                            const Fabric& fabric) {
  const bool cages_differ = CagesDiffer(fabric);
  LintContext context{.two_cages = UsesTwoCages(fabric),
                      .gid_pinned = section.gid_index.has_value(),
                      .gathers = FindGather(cluster),
                      .needed = MakeNeeds(cluster, cages_differ)};
  context.sparks = std::all_of(cluster.nodes.begin(), cluster.nodes.end(),
                               [](const auto& node) { return node.hardware == kDefaultHardware; });
  if (cages_differ) {
    context.needed.push_back({"NCCL_IB_SUBNET_PREFIX_LEN", "24",
                              "the subnets of cables are /24, and are distinguished by that"});
  }
  if (cluster.fabric.ring_collectives_only) {
    context.needed.push_back(
        {"NCCL_RUNTIME_CONNECT", "1", "connections across the ring must not be made at the start"});
  }
  return context;
}

}  // namespace reconciler::plugins::nccl
