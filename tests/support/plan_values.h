#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// Small plans for tests that are about ids and fingerprints, not about what a change does.
inline Change Named(const std::string& name, bool deferred = false) {
  return {.kind = "file",
          .name = name,
          .node = "spark-1",
          .detail = "1 → 2",
          .deferred = deferred,
          .fingerprint = "f"};
}

inline Plan MakePlanWith(std::vector<Change> changes) {
  Plan plan{.manifest = "cluster.yaml", .spec_digest = "d", .id = std::string(64, '0')};
  if (!changes.empty()) plan.stages = {{.plugins = {"p"}, .changes = std::move(changes)}};
  return plan;
}

}  // namespace reconciler
