#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reconciler/verify/nccl/evidence/summary.h"

namespace reconciler {

nlohmann::ordered_json NcclToJson(const NcclSummary& summary);
// For people: what ran over what, and one line per test.
std::string FormatNccl(const NcclSummary& summary);

}  // namespace reconciler
