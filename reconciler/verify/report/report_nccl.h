#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reconciler/verify/nccl/evidence/summary.h"

namespace reconciler {

nlohmann::ordered_json NcclToJson(const NcclSummary& summary);
// 0.004, 1.23, 21.5: three digits that count.
std::string FormatShort(double value);

// For people: what ran over what, and one line per test.
std::string FormatNccl(const NcclSummary& summary);

}  // namespace reconciler
