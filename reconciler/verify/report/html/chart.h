#pragma once

#include <string>

#include "reconciler/verify/nccl/evidence/summary.h"

namespace reconciler {

// Bus bandwidth over the size of the collective as an SVG element: a line per collective (float,
// not in place) and the links' roofline. Empty: nothing was measured.
std::string DrawNcclChart(const NcclSummary& summary);

}  // namespace reconciler
