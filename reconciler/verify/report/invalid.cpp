#include "reconciler/verify/report/invalid.h"

#include <algorithm>

namespace reconciler {

bool IsInvalid(const Report& report, const Check& check) {
  if (check.outcome != Outcome::kCouldNotMeasure) return false;
  return std::any_of(
      report.findings.begin(), report.findings.end(), [&check](const Finding& finding) {
        const auto names = [&finding](const NodeName& node) {
          return std::find(finding.nodes.begin(), finding.nodes.end(), node) != finding.nodes.end();
        };
        const bool has_rail =
            !check.rail || finding.rails.empty() || finding.rails.contains(*check.rail);
        return finding.code == "measurement-invalid" && has_rail && names(check.from) &&
               (check.to.empty() || names(check.to));
      });
}

bool IsInvalid(const Report& report, const NcclFigure& figure) {
  return std::any_of(report.checks.begin(), report.checks.end(), [&](const Check& check) {
    if (check.level != VerifyLevel::kNccl || check.outcome != Outcome::kCouldNotMeasure)
      return false;
    const bool has_figure =
        check.what == "nccl-run" || (check.what == "nccl-test" && check.subject == figure.Name());
    return has_figure && IsInvalid(report, check);
  });
}

}  // namespace reconciler
