#include "reconciler/verify/finding/join.h"

#include <algorithm>
#include <utility>

namespace reconciler {
namespace {

bool AreOne(const Finding& a, const Finding& b) {
  return a.code == b.code &&
         std::is_permutation(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end()) &&
         (a.level != b.level || a.cause == b.cause);
}

// The higher, the worse.
int RankOutcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
    case Outcome::kSkipped:
      return 0;
    case Outcome::kWarn:
      return 1;
    case Outcome::kCouldNotMeasure:
      return 2;
    case Outcome::kFail:
      return 3;
  }
  return 0;
}

}  // namespace

std::size_t JoinFinding(Finding finding, std::vector<Finding>& findings) {
  const auto same = std::find_if(findings.begin(), findings.end(),
                                 [&](const Finding& one) { return AreOne(one, finding); });
  if (same == findings.end()) {
    findings.push_back(std::move(finding));
    return findings.size() - 1;
  }
  same->rails.insert(finding.rails.begin(), finding.rails.end());
  same->explains += finding.explains;
  if (RankOutcome(finding.outcome) > RankOutcome(same->outcome)) same->outcome = finding.outcome;
  return static_cast<std::size_t>(same - findings.begin());
}

}  // namespace reconciler
