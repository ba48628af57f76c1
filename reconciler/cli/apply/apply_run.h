#pragma once

#include <optional>
#include <string>

#include "reconciler/apply/history.h"
#include "reconciler/cli/apply/apply_flags.h"
#include "reconciler/cli/context.h"

namespace reconciler::cli {

// One run from the facts to the report, for every command that changes nodes: plan, confirm, lock,
// plan again, converge, verify. `scope` says what is planned, `info` what the generation's document
// has besides. Returns the exit code.
int RunApply(const Cluster& cluster, const PlanScope& scope, const std::optional<Plan>& saved,
             const GenerationInfo& info, const ApplyFlags& flags, const Context& context);

}  // namespace reconciler::cli
