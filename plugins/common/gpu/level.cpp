#include "plugins/common/gpu/level.h"

namespace reconciler::plugins {

bool MeasuresRdma(const ClusterSpec& cluster) {
  const Value* level = cluster.settings.At({"verify", "level"});
  const std::string* text = level != nullptr ? level->AsString() : nullptr;
  return text != nullptr && *text != "link";
}

}  // namespace reconciler::plugins
