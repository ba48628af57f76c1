#pragma once

#include <string_view>
#include <vector>

#include "reconciler/verify/probes.h"
#include "reconciler/verify/report.h"

namespace reconciler {

// A question per rail whose port told counters both times: warns when one of them grew between the
// two. Only growth counts, never a number alone: a counter carries its history (a healthy node was
// seen with 21 lost links, and cables that were pulled once). `before` and `after` hold lines
// "NETDEV COUNTER NUMBER"; others are left out.
std::vector<Check> JudgeErrors(const NodeProbes& probes, std::string_view before,
                               std::string_view after);

}  // namespace reconciler
