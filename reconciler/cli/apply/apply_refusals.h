#pragma once

#include "reconciler/apply/cluster_apply.h"
#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {

// Says on stderr why nothing was changed and how to go on. `has_node`: with --node too.
void PrintRefusal(const ApplyRefusal& refusal, bool has_node);

// `reached_all`: every node could be read.
ExitCode FindExitCode(const ApplyRefusal& refusal, bool reached_all);

// Before a change: the cables that no one knows about, and the wrong ones that are accepted.
void PrintCabling(const CablingReport& report, bool allow_wrong);

}  // namespace reconciler::cli
