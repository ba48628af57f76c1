#include "reconciler/metrics/prometheus.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::string EscapeLabel(const std::string& value) {
  std::string escaped;
  for (const char one : MakePrintable(value)) {
    if (one == '\\' || one == '"') escaped += '\\';
    escaped += one;
  }
  return escaped;
}

std::string FormatSample(const std::string& name, const MetricSample& sample) {
  std::vector<std::string> labels;
  for (const auto& [label, value] : sample.labels) {
    labels.push_back(fmt::format("{}=\"{}\"", label, EscapeLabel(value)));
  }
  // 15 digits: all that a decimal value of a double holds for sure.
  return fmt::format("{}{{{}}} {:.15g}\n", name, Join(labels, ","), sample.value);
}

}  // namespace

std::string FormatGauges(const std::vector<Gauge>& gauges) {
  std::string text;
  for (const Gauge& gauge : gauges) {
    if (gauge.samples.empty()) continue;
    const std::string name = "spark_reconcile_" + gauge.name;
    text += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, gauge.description, name);
    for (const MetricSample& sample : gauge.samples) text += FormatSample(name, sample);
  }
  return text;
}

}  // namespace reconciler
