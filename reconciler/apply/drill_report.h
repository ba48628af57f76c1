#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/apply/drill.h"

namespace reconciler {

// What a drill that proved the revert says, in lines of at most `columns`; 0: no limit.
std::string FormatDrill(const NodeName& node, const DrillReport& report, int revert_after_s,
                        std::size_t columns);

// All drills of one run, valid against schema/drill.schema.json.
nlohmann::ordered_json DrillsToJson(const std::vector<std::pair<NodeName, DrillReport>>& drills,
                                    int revert_after_s);

}  // namespace reconciler
