#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "reconciler/apply/history.h"
#include "reconciler/cli/apply/apply_flags.h"
#include "reconciler/cli/apply/event_log.h"
#include "reconciler/cli/context.h"

namespace reconciler::cli {

// `run` and what it prints, with the file of --events around it: opened first, and ended with the
// exit code, which is returned. Where events go to stdout, all else goes to stderr. `inputs` are
// not written to.
int RunWithEvents(const ApplyFlags& flags, const std::vector<InputFile>& inputs,
                  const std::function<int(EventLog&)>& run);

// One run from the facts to the report, for every command that changes nodes: plan, confirm, lock,
// plan again, converge, verify. `scope` says what is planned, `info` what the generation's document
// has besides. Returns the exit code.
int RunApply(const Cluster& cluster, const PlanScope& scope, const std::optional<Plan>& saved,
             const GenerationInfo& info, const ApplyFlags& flags, const Context& context,
             EventLog& log);

}  // namespace reconciler::cli
