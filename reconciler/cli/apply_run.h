#pragma once

#include <optional>
#include <string>

#include "reconciler/cli/context.h"
#include "reconciler/engine/guard_script.h"
#include "reconciler/engine/history.h"

namespace CLI {
class App;
}

namespace reconciler::cli {

// What apply, rollback and uninstall let the user choose.
struct ApplyFlags {
  std::string events_file = {};
  bool yes = false;
  bool brief = false;
  bool no_verify = false;
  bool allow_node_removal = false;
  bool allow_unproven = false;
  bool allow_half_cables = false;
  bool allow_wrong_cables = false;
  bool interrupt = false;
  GuardTimes times = {};
};

void AddApplyFlags(CLI::App& command, ApplyFlags& flags);

// One run from the facts to the report, for every command that changes nodes: plan, ask, lock, plan
// again, converge, verify. `scope` says what is planned, `info` what the generation's document
// tells besides. Returns the exit code.
int RunApply(const Cluster& cluster, const PlanScope& scope, const std::optional<Plan>& saved,
             const GenerationInfo& info, const ApplyFlags& flags, const Context& context);

// The document's part that is known before anything is planned.
GenerationInfo InfoOf(const Cluster& cluster, const std::string& file);

}  // namespace reconciler::cli
