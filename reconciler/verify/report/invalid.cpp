#include "reconciler/verify/report/invalid.h"

#include <algorithm>

namespace reconciler {

bool IsInvalid(const Check& check) { return check.symptom == Symptom::kInvalidFigure; }

bool IsInvalid(const Report& report, const NcclFigure& figure) {
  return std::any_of(report.checks.begin(), report.checks.end(), [&figure](const Check& check) {
    if (check.level != VerifyLevel::kNccl || !IsInvalid(check)) return false;
    return check.what == "nccl-run" ||
           (check.what == "nccl-test" && check.subject == figure.Name());
  });
}

}  // namespace reconciler
