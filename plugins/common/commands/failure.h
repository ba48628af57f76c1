#pragma once

#include <string_view>

#include "reconciler/base/observed.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins {

// Why the reply of a probe's command says nothing. `command` begins with the program: "ip route".
// Precondition: the exit status is not 0. 124 is the time limit's, 127 a missing program's.
Unknown ExplainFailure(const CommandReply& reply, std::string_view command,
                       int limit_s = RunProbe().time_limit_s);

}  // namespace reconciler::plugins
