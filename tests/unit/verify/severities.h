#pragma once

#include <string>
#include <vector>

#include "reconciler/verify/report/report.h"

namespace reconciler::test {

// Compares how a finding came out with the severities that its code has in the catalogue.
void CheckSeverity(const std::string& code, Outcome outcome);
void CheckSeverities(const std::vector<Finding>& findings);

}  // namespace reconciler::test
