#pragma once

#include <string>
#include <vector>

#include "reconciler/verify/report/compare.h"

namespace reconciler {

// What every form of a comparison says in the same words.

// "worse: 3 figures are slower", "nothing got worse".
std::string FormatVerdict(const ReportComparison& comparison);

// "homelab: 2026-11-24 03:12 UTC compared with 2026-11-23 03:12 UTC"
std::string FormatComparedTimes(const Report& before, const Report& after);

// What limits the comparison, and how much is the same in both.
std::vector<std::string> ListNotes(const Report& before, const Report& after,
                                   const ReportComparison& comparison, const Noise& noise);

// A figure in its unit, without it: "110.0", "0.004".
std::string FormatFigure(double value, const std::string& unit);

// "+11.6 %"
std::string FormatPercent(const FigureChange& change);

}  // namespace reconciler
