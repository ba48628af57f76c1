#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// A manifest's text to a checked ClusterSpec, or every problem in it, in the order of their
// positions. `file` is the name that messages carry. Pure.
tl::expected<ClusterSpec, Errors> LoadClusterSpec(std::string_view yaml, const std::string& file);

// In the order of their places in the manifest. Precondition: each has one.
void SortByPosition(Errors& errors);

}  // namespace reconciler
