#pragma once

#include <string_view>
#include <vector>

#include "reconciler/verify/links/probes.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// A check per rail whose port reported counters both times: warns when one of them grew between the
// two. A number alone is history: 21 lost links were found on a node that was well
// (capetron/gb10-cluster-check). `before` and `after` hold lines "NETDEV COUNTER NUMBER"; others
// are left out.
std::vector<Check> JudgeErrors(const NodeProbes& probes, std::string_view before,
                               std::string_view after);

}  // namespace reconciler
