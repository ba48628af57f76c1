#include "reconciler/model/facts.h"

#include <fmt/format.h>

namespace reconciler {

std::string FormatLimit(const MemoryLimit& limit) {
  if (limit.IsUnlimited()) return "unlimited";
  return limit.bytes % 1024 == 0 ? fmt::format("{} KiB", limit.bytes / 1024)
                                 : fmt::format("{} bytes", limit.bytes);
}

Observed<FileState> FindFile(const NodeFacts& facts, const std::string& path) {
  return FindOrUnknown(facts.files, path);
}

}  // namespace reconciler
