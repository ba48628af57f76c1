#pragma once

#include "reconciler/verify/report/report.h"

namespace reconciler {

// Whether that figure cannot be true: it is above what the links can carry, or the ranks did not
// report the same tests. Nothing may be compared with it or drawn from it. A figure that could not
// be judged for another reason, such as a link that reports no speed, is valid.
bool IsInvalid(const Check& check);
bool IsInvalid(const Report& report, const NcclFigure& figure);

}  // namespace reconciler
