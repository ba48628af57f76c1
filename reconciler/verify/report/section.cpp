#include "reconciler/verify/report/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reconciler/base/manifest_error.h"
#include "reconciler/base/size.h"
#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/roofline.h"
#include "reconciler/verify/nccl/evidence/roofline.h"

namespace reconciler {
namespace {

double ReadDecimal(const Value& value) {
  if (const auto* whole = value.AsInteger()) return static_cast<double>(*whole);
  const auto* number = std::get_if<double>(&value.data);
  return number != nullptr ? *number : 0;
}

std::vector<spark_verify::Collective> ReadCollectives(const Value& list) {
  std::vector<spark_verify::Collective> collectives;
  for (const Value& entry : list.List()) {
    for (const spark_verify::Collective one : spark_verify::kCollectives) {
      if (entry.ScalarText() == ToString(one)) collectives.push_back(one);
    }
  }
  return collectives;
}

// Around a ring of four or more, data between two nodes that share no cable would take a way that
// no one made.
Errors CheckCollectives(const ClusterSpec& cluster) {
  const Value* list = cluster.settings.At({"verify", "collectives"});
  if (list == nullptr || !cluster.fabric.ring_collectives_only) return {};
  Errors errors;
  for (const Value& entry : list->List()) {
    if (entry.ScalarText() != ToString(spark_verify::Collective::kAllToAll)) continue;
    errors.push_back(
        MakeManifestError("manifest-collective-impossible", cluster.Mark(entry.position),
                          "verify.collectives: alltoall needs a way between every two nodes, "
                          "and ring: collectives-only has none",
                          "remove it: all_reduce, all_gather, reduce_scatter and sendrecv go "
                          "from neighbour to neighbour"));
  }
  return errors;
}

Error MakeMinimumError(const NcclMinimum& minimum, double most, std::string_view by,
                       std::string hint) {
  return MakeManifestError(
      "manifest-minimum-too-high", minimum.where,
      fmt::format("verify.min_busbw: wanted at most {:.1f} GB/s, which {}, found {}", most, by,
                  minimum.busbw),
      std::move(hint));
}

// Each collective that runs must reach it.
Errors CheckPromise(const ClusterSpec& cluster, const Fabric& fabric) {
  const VerifySection section = ReadVerifySection(cluster);
  const NcclMinimum& minimum = section.minimum;
  if (minimum.busbw <= 0) return {};
  const std::vector<NodeName> ranks = OrderRing(cluster, fabric);
  const NcclRoofline roofline = ComputePlannedRoofline(cluster, fabric, ranks);
  if (roofline.most <= 0) return {};
  if (minimum.busbw > roofline.most) {
    return {MakeMinimumError(
        minimum, roofline.most, "the links of this cabling carry",
        "bus bandwidth is in GB/s, not Gb/s: a cable of 200 Gb/s carries 24.5 at mtu 9000, and two "
        "rails behind PCIe 27.9")};
  }
  const auto& all = section.collectives;
  const bool runs_alltoall =
      std::find(all.begin(), all.end(), spark_verify::Collective::kAllToAll) != all.end();
  const double alltoall = ComputeBusBandwidth(ComputeAllToAllPayload(cluster, fabric, ranks));
  // Elsewhere it is the ring's, and alltoall may have more: that is `most`.
  if (!runs_alltoall || alltoall >= roofline.ring || minimum.busbw <= alltoall) return {};
  return {MakeMinimumError(minimum, alltoall, "the cables between switches let through of alltoall",
                           "lower it, or remove alltoall from verify.collectives")};
}

Value& FindOrAddMember(Value& map, const std::string& key) {
  if (!map.IsMap()) map.data = std::vector<Member>();
  auto& members = std::get<std::vector<Member>>(map.data);
  for (Member& member : members) {
    if (member.key == key) return member.value;
  }
  return members.emplace_back(Member{.key = key}).value;
}

}  // namespace

void SetVerifyLevel(ClusterSpec& cluster, const std::string& level) {
  FindOrAddMember(FindOrAddMember(cluster.settings, "verify"), "level").data = level;
}

VerifyLevel ParseLevel(std::string_view level) {
  if (level == "rdma") return VerifyLevel::kRdma;
  return level == "link" ? VerifyLevel::kSsh : VerifyLevel::kNccl;
}

VerifySection ReadVerifySection(const ClusterSpec& cluster) {
  VerifySection section;
  const Value* verify = cluster.settings.Find("verify");
  if (verify == nullptr) return section;
  if (const Value* level = verify->Find("level")) {
    section.level = ParseLevel(level->ScalarText());
    section.automatic = level->ScalarText() == "auto";
  }
  if (const Value* list = verify->Find("collectives")) section.collectives = ReadCollectives(*list);
  if (const Value* size = verify->Find("size")) {
    section.size = ParseSize(size->ScalarText()).value_or(section.size);
  }
  if (const Value* minimum = verify->Find("min_busbw")) {
    section.minimum = {.busbw = ReadDecimal(*minimum), .where = cluster.Mark(minimum->position)};
  }
  section.skip_rdma = verify->Find("skip") != nullptr;  // rdma is the only one that can be
  return section;
}

Errors CheckVerifySection(const ClusterSpec& cluster, const Fabric& fabric) {
  Errors errors = CheckCollectives(cluster);
  for (Error& error : CheckPromise(cluster, fabric)) errors.push_back(std::move(error));
  return errors;
}

}  // namespace reconciler
