#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// The parts of a change's line.

inline constexpr std::string_view kReset = "\033[0m";

std::string_view ChooseSymbol(ChangeKind kind);  // + ~ - > !
std::string_view ChooseColour(ChangeKind kind);  // as an escape sequence of a terminal

// "name: detail" for a value, "name (0600, 3 lines)" for a file. `several`: see FormatDetail.
std::string FormatWhat(const Change& change, bool several);

// "drifted, flaps the link": why it is needed, and what it interrupts or that it is blocked; may be
// empty.
std::string FormatTail(const Change& change);

// The signs that the plan has: "+ created  ~ changed". Narrower than 60 columns; ends with a
// newline unless there are none.
std::string FormatLegend(const Plan& plan, bool colour);

// A line for each word that the plan has on why changes are needed: "drifted (2): differs from what
// was applied".
std::vector<std::string> ExplainCauses(const Plan& plan);

}  // namespace reconciler
