#include "reconciler/verify/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "reconciler/verify/nccl/evidence/roofline.h"
#include "reconciler/verify/report/invalid.h"

namespace reconciler {
namespace {

struct Figure {
  double value = 0;
  std::string unit = {};
  bool is_time = false;  // less is better
};

using Figures = std::map<std::string, Figure>;

// A collective too small to say anything of a link is compared by its time.
Figure MakeFigure(const NcclFigure& figure) {
  if (FindSizeFactor(figure.bytes)) return {.value = figure.busbw, .unit = "GB/s"};
  return {.value = figure.time_us, .unit = "µs", .is_time = true};
}

Figures ListFigures(const Report& report) {
  Figures figures;
  for (const Check& check : report.checks) {
    if (IsInvalid(check)) continue;
    if (check.gbps) figures[FormatCheck(check)] = {.value = *check.gbps, .unit = "Gb/s"};
    if (check.latency_us) {
      figures["latency of " + FormatCheck(check)] = {
          .value = *check.latency_us, .unit = "µs", .is_time = true};
    }
  }
  if (!report.nccl) return figures;
  for (const NcclFigure& figure : report.nccl->figures) {
    if (IsInvalid(report, figure)) continue;
    figures["NCCL " + figure.Name()] = MakeFigure(figure);
  }
  return figures;
}

bool IsFurther(const FigureChange& a, const FigureChange& b) {
  return std::abs(a.ComputePercent()) > std::abs(b.ComputePercent());
}

void CompareFigures(const Report& before, const Report& after, const Noise& noise,
                    ReportComparison& comparison) {
  const Figures now = ListFigures(after);
  for (const auto& [what, then] : ListFigures(before)) {
    if (!std::isfinite(then.value) || then.value <= 0) continue;
    const auto found = now.find(what);
    if (found == now.end() || found->second.value <= 0) {
      comparison.not_measured.push_back(what);
      continue;
    }
    const FigureChange change{what, then.unit, then.value, found->second.value};
    const double percent = change.ComputePercent();
    if (std::abs(percent) <= (then.is_time ? noise.time : noise.bandwidth)) {
      ++comparison.same;
    } else {
      ((percent < 0) == then.is_time ? comparison.better : comparison.worse).push_back(change);
    }
  }
  std::stable_sort(comparison.worse.begin(), comparison.worse.end(), IsFurther);
  std::stable_sort(comparison.better.begin(), comparison.better.end(), IsFurther);
}

bool IsMeasured(Outcome outcome) {
  return outcome == Outcome::kPass || outcome == Outcome::kWarn || outcome == Outcome::kFail;
}

// Of two outcomes of one thing: also where it was not measured before, and is bad now.
bool IsWorse(Outcome now, Outcome then) {
  if (now == Outcome::kFail) return then != Outcome::kFail;
  return now == Outcome::kWarn && then != Outcome::kWarn && then != Outcome::kFail;
}

auto MakeKey(const Finding& finding) {
  return std::tuple(finding.code, std::set(finding.nodes.begin(), finding.nodes.end()),
                    finding.rails);
}

void CompareFindings(const Report& before, const Report& after, ReportComparison& comparison) {
  const auto find = [](const Report& report, const Finding& finding) -> const Finding* {
    const auto found = std::find_if(
        report.findings.begin(), report.findings.end(),
        [key = MakeKey(finding)](const Finding& other) { return MakeKey(other) == key; });
    return found == report.findings.end() ? nullptr : &*found;
  };
  for (const Finding& finding : after.findings) {
    const Finding* then = find(before, finding);
    const bool is_new = then == nullptr || IsWorse(finding.outcome, then->outcome);
    (is_new ? comparison.added : comparison.kept).push_back(finding);
  }
  for (const Finding& finding : before.findings) {
    if (find(after, finding) == nullptr) comparison.gone.push_back(finding);
  }
}

// Whether the report knows that part of the cluster: a node, a peer, a rail or a level may be new.
bool Covers(const Report& report, const Check& check) {
  return std::any_of(report.checks.begin(), report.checks.end(), [&check](const Check& other) {
    return other.level == check.level && other.from == check.from &&
           (check.to.empty() || other.to == check.to) &&
           (!check.rail || other.rail == check.rail) && IsMeasured(other.outcome);
  });
}

// Of NCCL's data the rail is what was found: a check that passes names none.
std::string FormatKey(const Check& check) {
  Check named = check;
  if (check.level == VerifyLevel::kNccl) named.rail.reset();
  return FormatCheck(named);
}

// Of a check that the later report does not have. What verify notices only where it is wrong has
// none once it is well: many warnings, and of the failures these.
bool HasHealed(const Check& then, const Report& after) {
  const bool is_noticed_where_wrong =
      then.symptom == Symptom::kInfiniBand || then.symptom == Symptom::kNeighbourWrong;
  return then.outcome == Outcome::kWarn || (is_noticed_where_wrong && Covers(after, then));
}

void CompareChecks(const Report& before, const Report& after, ReportComparison& comparison) {
  std::map<std::pair<VerifyLevel, std::string>, const Check*> now;
  for (const Check& check : after.checks) now[{check.level, FormatKey(check)}] = &check;
  for (const Check& then : before.checks) {
    const std::string what = FormatCheck(then);
    const auto found = now.find({then.level, FormatKey(then)});
    if (found != now.end() && IsMeasured(found->second->outcome)) {
      if (IsWorse(found->second->outcome, then.outcome)) {
        comparison.deteriorated.push_back(
            {FormatCheck(*found->second), then.outcome, found->second->outcome});
      }
      continue;
    }
    const bool has_healed = found == now.end() && HasHealed(then, after);
    // A figure is compared as one.
    if (IsMeasured(then.outcome) && !then.gbps && !has_healed) {
      comparison.not_measured.push_back(what);
    }
  }
}

// A container has another id after each start.
std::string FormatLastingName(const Check& check) {
  if (!check.what.starts_with("container")) return FormatKey(check);
  Check named = check;
  named.subject.clear();
  return FormatKey(named);
}

bool IsNamedBy(const Finding& finding, const Check& check) {
  const auto node = std::find(finding.nodes.begin(), finding.nodes.end(), check.from);
  const bool has_rail = !check.rail || finding.rails.empty() || finding.rails.contains(*check.rail);
  return finding.code == ToString(check.symptom) && node != finding.nodes.end() && has_rail;
}

// What is only noticed where it is wrong has no check while it is well. A finding is known by its
// code and its nodes, so that one that is still there may have a reason more than before.
void AddNewChecks(const Report& before, const Report& after, ReportComparison& comparison) {
  // From level rdma on, more of the facts are checked.
  if (before.level < std::min(after.level, VerifyLevel::kRdma)) return;
  std::set<std::pair<VerifyLevel, std::string>> known;
  for (const Check& check : before.checks) known.insert({check.level, FormatLastingName(check)});
  for (const Check& check : after.checks) {
    const bool is_well = !IsWorse(check.outcome, Outcome::kPass);
    if (is_well || known.contains({check.level, FormatLastingName(check)})) continue;
    const bool is_named =
        std::any_of(comparison.added.begin(), comparison.added.end(),
                    [&check](const Finding& finding) { return IsNamedBy(finding, check); });
    if (is_named || !Covers(before, check)) continue;
    comparison.deteriorated.push_back({FormatCheck(check), Outcome::kPass, check.outcome});
  }
}

// With what was loaded for NCCL's run, which need not be what a node has installed.
std::map<NodeName, ReportedFacts> ListFacts(const Report& report) {
  std::map<NodeName, ReportedFacts> facts = report.facts;
  if (!report.nccl) return facts;
  for (const NcclRankFacts& rank : report.nccl->ranks) {
    if (!rank.version.empty()) facts[rank.node]["NCCL that ran"] = rank.version;
  }
  return facts;
}

void CompareFacts(const Report& before, const Report& after, ReportComparison& comparison) {
  comparison.has_facts = !before.facts.empty() && !after.facts.empty();
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<NodeName>> changes;
  const std::map<NodeName, ReportedFacts> now = ListFacts(after);
  for (const auto& [node, facts] : ListFacts(before)) {
    const auto found = now.find(node);
    if (found == now.end()) continue;
    std::set<std::string> names;
    for (const auto* one : {&facts, &found->second}) {
      for (const auto& [name, value] : *one) names.insert(name);
    }
    for (const std::string& name : names) {
      const auto get = [&](const ReportedFacts& from) {
        const auto at = from.find(name);
        return at == from.end() ? std::string("not known") : at->second;
      };
      if (get(facts) == get(found->second)) continue;
      changes[{name, get(facts), get(found->second)}].push_back(node);
    }
  }
  for (auto& [key, nodes] : changes) {
    comparison.facts.push_back(
        {std::get<0>(key), std::get<1>(key), std::get<2>(key), std::move(nodes)});
  }
}

}  // namespace

Result<ReportComparison> CompareReports(const Report& before, const Report& after,
                                        const Noise& noise) {
  if (before.cluster != after.cluster) {
    return Fail({.kind = ErrorKind::kInput,
                 .message = fmt::format("wanted two reports of one cluster, found {} and {}",
                                        before.cluster, after.cluster)});
  }
  ReportComparison comparison;
  CompareFigures(before, after, noise, comparison);
  CompareFindings(before, after, comparison);
  CompareChecks(before, after, comparison);
  AddNewChecks(before, after, comparison);
  CompareFacts(before, after, comparison);
  return comparison;
}

int FindExitCode(const ReportComparison& comparison) {
  const bool has_new = std::any_of(
      comparison.added.begin(), comparison.added.end(),
      [](const Finding& finding) { return finding.outcome != Outcome::kCouldNotMeasure; });
  if (!comparison.worse.empty() || !comparison.deteriorated.empty() || has_new) return 6;
  return comparison.not_measured.empty() && comparison.added.empty() ? 0 : 7;
}

}  // namespace reconciler
