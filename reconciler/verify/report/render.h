#pragma once

#include <cstddef>
#include <string>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// The report for a terminal: one matrix per level that measures between nodes, the findings, and a
// summary line. Plain text of at most 100 columns (wider only where a matrix of many nodes or one
// long word does not fit); the same report gives the same bytes. `columns`: of
// the terminal, to which the sentences of the findings keep; 0: there is none.
std::string RenderReport(const Report& report, std::size_t columns = 0);

}  // namespace reconciler
