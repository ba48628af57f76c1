#include "plugins/common/gpu/level.h"

namespace reconciler::plugins {
namespace {

// nullptr: the manifest names none, which is `auto`.
const std::string* FindLevel(const ClusterSpec& cluster) {
  const Value* level = cluster.settings.At({"verify", "level"});
  return level != nullptr ? level->AsString() : nullptr;
}

}  // namespace

bool MeasuresRdma(const ClusterSpec& cluster) {
  const std::string* level = FindLevel(cluster);
  return level != nullptr && *level != "link";
}

bool MayMeasureRdma(const ClusterSpec& cluster) {
  const std::string* level = FindLevel(cluster);
  return level == nullptr || *level != "link";
}

}  // namespace reconciler::plugins
