#include "plugins/common/ownership/owned.h"

#include <fmt/format.h>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

Obstacle MakeNotOurs(std::string why) {
  return {.code = "plan-file-not-ours", .why = std::move(why)};
}

Obstacle MakeUnknown(const std::string& path, const std::string& why) {
  return {.code = "plan-state-unknown", .why = fmt::format("{} cannot be read: {}", path, why)};
}

std::string ExplainForeign(const FileState& file, std::string_view cluster,
                           std::string_view former) {
  const auto owner = FindOwner(file.content);
  if (!owner) {
    return "was not written by spark-reconcile: move it away, or remove this from the manifest";
  }
  if (*owner == cluster || (!former.empty() && *owner == former)) return {};
  return fmt::format(
      "belongs to cluster '{}': move it away if that cluster is gone, or remove this from the "
      "manifest",
      MakePrintable(*owner));
}

}  // namespace

std::string ExplainNotOurs(const Observed<FileState>& observed, std::string_view cluster,
                           std::string_view former) {
  const FileState* file = Known(observed);
  return file == nullptr ? "" : ExplainForeign(*file, cluster, former);
}

void BlockUnlessOurs(Resource& file, std::string_view cluster, std::string_view former) {
  const ResourceState* state = Known(file.observed);
  const auto* observed = state == nullptr ? nullptr : std::get_if<FileState>(state);
  if (observed == nullptr) return;
  if (std::string why = ExplainForeign(*observed, cluster, former); !why.empty())
    file.blocked = MakeNotOurs(std::move(why));
}

Obstacle FindFileObstacle(const NodeFacts& facts, const std::string& path, std::string_view cluster,
                          std::string_view former) {
  const Observed<FileState> observed = FindFile(facts, path);
  if (const auto* unknown = std::get_if<Unknown>(&observed)) {
    return MakeUnknown(path, unknown->why);
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&observed)) {
    return MakeUnknown(path, unsupported->why);
  }
  const std::string why = ExplainNotOurs(observed, cluster, former);
  if (why.empty()) return {};
  return MakeNotOurs(fmt::format("{} {}", path, why));
}

}  // namespace reconciler::plugins
