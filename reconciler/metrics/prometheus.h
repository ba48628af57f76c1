#pragma once

#include <string>
#include <utility>
#include <vector>

namespace reconciler {

struct MetricSample {
  std::vector<std::pair<std::string, std::string>> labels = {};  // names and values
  double value = 0;
};

struct Gauge {
  std::string name = {};         // without "spark_reconcile_"
  std::string description = {};  // one sentence
  std::vector<MetricSample> samples = {};
};

// Prometheus' text format, which the textfile collector of node_exporter reads: HELP and TYPE, then
// a line per sample. Label values come out printable. A gauge without samples is left out.
std::string FormatGauges(const std::vector<Gauge>& gauges);

}  // namespace reconciler
