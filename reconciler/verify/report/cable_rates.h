#pragma once

#include "reconciler/fabric/drawing/drawing.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// What each cable of the drawing was measured to carry. Of a cable between two nodes: what one
// wrote to the other on the cable's rails. Of a cable to a switch: the best that its node sent to
// any other, or received, so that a slow node does not colour the cables of all others. Cables
// between switches are not measured.
CableRates FindCableRates(const Drawing& drawing, const Report& report);

}  // namespace reconciler
