#include "reconciler/verify/report/metrics/verify_metrics.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "reconciler/metrics/prometheus.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/invalid.h"

namespace reconciler {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Seconds since 1970 of "2026-11-24T03:12:05Z".
std::optional<double> ParseTime(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ", &year, &month, &day, &hour, &minute,
                  &second) != 6) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const auto time = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                    std::chrono::minutes(minute) + std::chrono::seconds(second);
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

Gauge CountChecksByLevel(const Report& report) {
  Gauge gauge{"verify_checks", "Checks of the last verification, by level and outcome."};
  std::map<std::pair<VerifyLevel, Outcome>, std::size_t> counts;
  for (const Check& check : report.checks) ++counts[{check.level, check.outcome}];
  for (const VerifyLevel level : kVerifyLevels) {
    const bool was_run = std::any_of(report.checks.begin(), report.checks.end(),
                                     [&](const Check& check) { return check.level == level; });
    if (!was_run) continue;
    for (const Outcome outcome : kOutcomes) {
      gauge.samples.push_back({{{"cluster", report.cluster},
                                {"level", std::string(ToString(level))},
                                {"outcome", std::string(ToString(outcome))}},
                               static_cast<double>(counts[{level, outcome}])});
    }
  }
  return gauge;
}

Gauge CountFindings(const Report& report) {
  Gauge gauge{"verify_findings", "Findings of the last verification, by code and outcome."};
  std::map<std::pair<std::string, Outcome>, std::size_t> counts;
  for (const Finding& finding : report.findings) ++counts[{finding.code, finding.outcome}];
  for (const auto& [key, count] : counts) {
    gauge.samples.push_back({{{"cluster", report.cluster},
                              {"code", key.first},
                              {"outcome", std::string(ToString(key.second))}},
                             static_cast<double>(count)});
  }
  return gauge;
}

Labels MakeLabels(const Report& report, const Check& check) {
  Labels labels = {{"cluster", report.cluster}, {"check", check.what}, {"from", check.from}};
  if (!check.to.empty()) labels.emplace_back("to", check.to);
  if (check.rail) labels.emplace_back("rail", FormatRailName(*check.rail));
  if (!check.subject.empty()) labels.emplace_back("subject", check.subject);
  return labels;
}

// Whole bits and bytes: the report has at most three decimals of a gigabit or gigabyte.
std::vector<Gauge> ListMeasured(const Report& report) {
  Gauge rates{"verify_bandwidth_bits_per_second", "Payload that a check of a link carried."};
  Gauge latencies{"verify_latency_seconds", "One-way latency that a check of a link measured."};
  for (const Check& check : report.checks) {
    if (IsInvalid(check)) continue;
    const Labels labels = MakeLabels(report, check);
    if (check.gbps) rates.samples.push_back({labels, std::round(*check.gbps * 1e9)});
    if (check.latency_us) latencies.samples.push_back({labels, *check.latency_us / 1e6});
  }
  Gauge nccl{"verify_nccl_bus_bandwidth_bytes_per_second", "Bus bandwidth of an NCCL test."};
  if (report.nccl) {
    for (const NcclFigure& figure : report.nccl->figures) {
      if (IsInvalid(report, figure)) continue;
      nccl.samples.push_back(
          {{{"cluster", report.cluster}, {"test", figure.Name()}}, std::round(figure.busbw * 1e9)});
    }
  }
  return {std::move(rates), std::move(latencies), std::move(nccl)};
}

}  // namespace

std::string FormatVerifyMetrics(const Report& report) {
  const auto make = [&](std::string name, std::string description, double value) {
    return Gauge{std::move(name), std::move(description), {{{{"cluster", report.cluster}}, value}}};
  };
  std::vector<Gauge> gauges = {
      make("verify_exit_code",
           "Exit code of the last verification: 0 passed, 3 a node was not read, 6 failed, 7 not "
           "measured.",
           FindExitCode(report))};
  if (report.run) {
    if (const auto began = ParseTime(report.run->began)) {
      gauges.push_back(make("verify_timestamp_seconds",
                            "When the last verification ended, in seconds since 1970.",
                            std::floor(*began + report.run->seconds)));
    }
    gauges.push_back(make("verify_duration_seconds", "How long the last verification took.",
                          std::round(report.run->seconds * 1e3) / 1e3));
  }
  gauges.push_back(CountChecksByLevel(report));
  gauges.push_back(CountFindings(report));
  for (Gauge& gauge : ListMeasured(report)) gauges.push_back(std::move(gauge));
  return FormatGauges(gauges);
}

}  // namespace reconciler
