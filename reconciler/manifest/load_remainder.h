#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// A manifest that was refused, without the parts that its errors are about: what plugins find wrong
// in the others can be reported together with those. nullopt where the nodes or the cables are not
// known without them, since what plugins say would then be wrong.
std::optional<ClusterSpec> LoadRemainder(std::string_view yaml, const std::string& file);

}  // namespace reconciler
