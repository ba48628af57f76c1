#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reconciler/verify/report/report.h"

namespace reconciler {

nlohmann::ordered_json NcclToJson(const NcclSummary& summary);
// 0.004, 1.23, 21.5: three digits that count.
std::string FormatShort(double value);
// Of a figure of the report, or what stands in its place where it cannot be true. Then its times
// are as wrong as its bandwidth.
std::string FormatBusBandwidth(const Report& report, const NcclFigure& figure);
std::string FormatMicroseconds(const Report& report, const NcclFigure& figure, double time_us);

// For people: what ran over what, and one line per test. Precondition: NCCL was run.
std::string FormatNccl(const Report& report);

}  // namespace reconciler
