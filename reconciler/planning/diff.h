#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconciler/model/plan.h"
#include "reconciler/model/resource.h"

namespace reconciler {

// The one place where desired meets observed. Nothing when they agree; otherwise the change that
// makes them agree, or a blocked one with its reason. Unknown blocks and never causes a change.
std::optional<Change> Diff(const Resource& resource, std::string_view plugin);

// What of a resource that holds must be known where its triggers run because of other changes. Only
// of one that its triggers alone bring about: such triggers set it again.
std::optional<Change> MakeHeld(const Resource& resource, std::string_view plugin);

// Digest of what was observed: a saved plan is stale when it moved.
std::string ComputeFingerprint(const Observed<ResourceState>& observed);

}  // namespace reconciler
