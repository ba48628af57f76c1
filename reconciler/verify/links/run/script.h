#pragma once

#include <string>
#include <string_view>

#include "reconciler/transport/transport.h"
#include "reconciler/verify/links/probes.h"

namespace reconciler {

// A POSIX shell script that makes all probes of one node, some at a time, each within a time limit.
// Its answer has frames "small.I" and "jumbo.I" per ping and "ssh.I" per login, I being the index
// in the probes' list; stdout of a frame begins with a line that holds the exit code. "jumbo.I" is
// left out when nothing came back at "small.I". "names" holds what JudgeNames reads. With pings,
// "neighbours" holds what JudgeNeighbours reads, and "errors.before" and "errors.after" what
// JudgeErrors reads. Changes nothing on the node or on
// its peers.
std::string BuildVerifyScript(const NodeProbes& probes, std::string_view nonce);

// What the script takes at most, with every probe running into its limit.
Milliseconds ComputeVerifyLimit(const NodeProbes& probes);

}  // namespace reconciler
