#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/transport/transport.h"
#include "reconciler/verify/links/probes.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// One check per probe, pings first, in the order of the probes. A probe whose answer is missing
// could not be measured. After them, what the ports' error counters did meanwhile, where they
// reported.
std::vector<Check> ReadReply(const NodeProbes& probes, const ScriptReply& reply,
                             std::string_view nonce);

// The same checks when the node gave no answer at all.
std::vector<Check> MakeNotMeasuredChecks(const NodeProbes& probes, Symptom symptom,
                                         const std::string& why);

}  // namespace reconciler
