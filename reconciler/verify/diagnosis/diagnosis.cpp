#include "reconciler/verify/diagnosis/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/verify/finding/join.h"

namespace reconciler {
namespace {

void AddOnce(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) {
    texts.push_back(text);
  }
}

// "spark-1 to spark-2 on rail0"; a finding can stand for many directions.
std::string DescribeSubject(const Check& check) {
  std::string text = check.from;
  if (!check.to.empty()) text += fmt::format(" to {}", check.to);
  if (check.rail) text += fmt::format(" on {}", FormatRailName(*check.rail));
  return text;
}

}  // namespace

std::size_t Diagnosis::AddFinding(Finding finding) {
  return JoinFinding(std::move(finding), findings_);
}

void Diagnosis::Explain(std::size_t check, std::size_t finding) {
  if (!IsOpen(check)) return;
  explained_[check] = finding;
  ++findings_[finding].explains;
}

bool Diagnosis::IsOpen(std::size_t check) const {
  const Outcome outcome = checks[check].outcome;
  return !explained_[check] && outcome != Outcome::kPass && outcome != Outcome::kSkipped;
}

std::vector<Arrow> Diagnosis::ListArrows(VerifyLevel level, Symptom symptom) const {
  std::vector<Arrow> arrows;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Check& check = checks[i];
    if (check.level != level || check.to.empty()) continue;
    const bool bad = IsOpen(i) && check.symptom == symptom;
    if (!bad && check.outcome != Outcome::kPass) continue;
    arrows.push_back({.from = check.from,
                      .to = check.to,
                      .rail = check.rail.value_or(-1),
                      .bad = bad,
                      .check = i});
  }
  return arrows;
}

Finding Diagnosis::DraftFinding(std::string code, std::vector<NodeName> nodes,
                                const std::vector<std::size_t>& about) const {
  constexpr std::size_t kEvidence = 4;  // lines: enough to recognize it; the checks have the rest
  Finding finding{.code = std::move(code), .nodes = std::move(nodes)};
  std::vector<std::string> expected;
  std::vector<std::string> measured;
  for (const std::size_t i : about) {
    const Check& check = checks[i];
    if (i == about.front()) {
      finding.level = check.level;
      finding.outcome = check.outcome;
    }
    if (check.rail) finding.rails.insert(*check.rail);
    AddOnce(expected, check.expected);
    AddOnce(measured, check.measured.empty() ? check.why : check.measured);
    for (const std::string& line : check.evidence) {
      if (finding.evidence.size() < kEvidence) {
        finding.evidence.push_back(fmt::format("{}: {}", DescribeSubject(check), line));
      }
    }
  }
  if (expected.size() > kEvidence) expected.resize(kEvidence);
  finding.expected = Join(expected, "; ");
  finding.measured = Join(measured, "; ");
  return finding;
}

std::vector<Finding> Diagnosis::SortFindings() const {
  std::vector<Finding> findings = findings_;
  std::erase_if(findings, [](const Finding& finding) { return finding.explains == 0; });
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.level < b.level; });
  return findings;
}

std::string FormatRails(const std::set<int>& rails) {
  std::vector<std::string> names;
  for (const int rail : rails) names.push_back(FormatRailName(rail));
  return Join(names, ", ");
}

}  // namespace reconciler
