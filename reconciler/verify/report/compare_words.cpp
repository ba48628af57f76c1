#include "reconciler/verify/report/compare_words.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/verify/report/report_nccl.h"

namespace reconciler {

std::string FormatVerdict(const ReportComparison& comparison) {
  const int code = FindExitCode(comparison);
  if (code == 0) return "nothing got worse";
  if (code == 7) return "nothing got worse, as far as it was measured again";
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view one, std::string_view many) {
    if (count > 0) parts.push_back(FormatPlural(count, one, many));
  };
  add(comparison.worse.size(), "figure is slower", "figures are slower");
  add(comparison.added.size(), "finding is new or worse", "findings are new or worse");
  add(comparison.deteriorated.size(), "check got worse", "checks got worse");
  return "worse: " + Join(parts, ", ");
}

std::string FormatComparedTimes(const Report& before, const Report& after) {
  return fmt::format("{}: {} compared with {}", after.cluster, FormatTime(after),
                     FormatTime(before));
}

std::vector<std::string> ListNotes(const Report& before, const Report& after,
                                   const ReportComparison& comparison, const Noise& noise) {
  std::vector<std::string> notes = {fmt::format(
      "{} the same: bandwidths within {:g} %, times within {:g} %",
      FormatPlural(comparison.same, "figure is", "figures are"), noise.bandwidth, noise.time)};
  if (!comparison.has_facts)
    notes.emplace_back("facts are compared only where both reports hold some");
  if (before.run && after.run && before.run->began > after.run->began) {
    notes.emplace_back("the first report was made after the second one");
  }
  return notes;
}

std::string FormatFigure(double value, const std::string& unit) {
  return unit == "Gb/s" ? fmt::format("{:.1f}", value) : FormatShort(value);
}

std::string FormatPercent(const FigureChange& change) {
  return fmt::format("{:+.1f} %", change.ComputePercent());
}

}  // namespace reconciler
