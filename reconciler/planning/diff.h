#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconciler/base/last_result.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/resource.h"

namespace reconciler {

// How the contents of files differ, by the files' names. What nodes have in common is compared
// once.
class FileDiffs {
 public:
  // See MakeShownDiff.
  const std::string& Show(const std::string& file, std::string_view before, std::string_view after);
  // "+3 -1 lines".
  const std::string& Count(const std::string& file, std::string_view before,
                           std::string_view after);

 private:
  LastResult<std::string> shown_ = {};
  LastResult<std::string> counted_ = {};
};

// The one place where desired meets observed. Nothing when they agree; otherwise the change that
// makes them agree, or a blocked one with its reason. Unknown blocks and never causes a change.
std::optional<Change> Diff(const Resource& resource, std::string_view plugin);
std::optional<Change> Diff(const Resource& resource, std::string_view plugin, FileDiffs& diffs);

// Whether it is as it shall be where the change stays away after which it would be known: see
// KnownAfterApply.
bool HoldsOtherwise(const Resource& resource);

// What of a resource that holds must be known where its triggers run because of other changes. Only
// of one that its triggers alone bring about: such triggers set it again.
std::optional<Change> MakeHeld(const Resource& resource, std::string_view plugin);

// Digest of what was observed: a saved plan is stale when it moved.
std::string ComputeFingerprint(const Observed<ResourceState>& observed);

}  // namespace reconciler
