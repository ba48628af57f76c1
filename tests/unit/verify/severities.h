#pragma once

#include <string>
#include <vector>

#include "reconciler/verify/report/report.h"

namespace reconciler::test {

// Compares how a finding came out with the severities of its code in the catalogue, and remembers
// it: at the end of this program every severity of every code of verify must have been seen.
void CheckSeverity(const std::string& code, Outcome outcome);
void CheckSeverities(const std::vector<Finding>& findings);

}  // namespace reconciler::test
