#include "reconciler/model/fabric.h"

#include <fmt/format.h>

namespace reconciler {

std::string FormatRailName(int rail) { return fmt::format("rail{}", rail); }

std::string FormatRailHostName(const NodeName& node, int rail) {
  return fmt::format("{}-{}", node, FormatRailName(rail));
}

}  // namespace reconciler
