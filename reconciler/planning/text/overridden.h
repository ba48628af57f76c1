#pragma once

#include <string>

#include "reconciler/model/plan.h"

namespace reconciler {

// Whether something on the node wins over what the manifest requires there, now or later: a warning
// whose entry in the catalogue says `overrides`.
bool IsOverridden(const Plan& plan, const NodeName& node);

// "2 things on 1 node win over the manifest at the next boot or re-plug"; empty: nothing does.
std::string FormatOverridden(const Plan& plan);

}  // namespace reconciler
