#pragma once

#include <string_view>
#include <vector>

#include "reconciler/verify/links/probes.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// A check per ping whose address another port answered for than the peer's. Failed: another machine
// has that address. A warning: another port of the peer answers ARP for it. `text`: what `ip -4
// neigh show` prints after the pings. An entry that is not confirmed has no check.
std::vector<Check> JudgeNeighbours(const NodeProbes& probes, std::string_view text);

}  // namespace reconciler
