#include "reconciler/model/fabric.h"

#include <fmt/format.h>

namespace reconciler {

std::string RailName(int rail) { return fmt::format("rail{}", rail); }

std::string RailHostName(const NodeName& node, int rail) {
  return fmt::format("{}-{}", node, RailName(rail));
}

}  // namespace reconciler
