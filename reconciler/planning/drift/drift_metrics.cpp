#include "reconciler/planning/drift/drift_metrics.h"

#include "reconciler/metrics/prometheus.h"
#include "reconciler/planning/drift/node_drift.h"

namespace reconciler {

std::string FormatDriftMetrics(const Plan& plan, int exit_code, std::int64_t ended_s) {
  Gauge reached{"node_reached", "1: the node was read. 0: it was not, and nothing is known of it."};
  Gauge changes{"drift_changes", "Changes that an apply would make on the node."};
  Gauge blocked{"drift_blocked", "Changes that the node needs and an apply would not make."};
  Gauge drifted{"drift_drifted",
                "Of drift_changes and drift_blocked: those of what differs from what was applied."};
  for (const NodeDrift& drift : ListDrift(plan)) {
    const MetricSample sample{.labels = {{"cluster", plan.cluster}, {"node", drift.node}}};
    const auto add = [&](Gauge& gauge, std::size_t value) {
      gauge.samples.push_back({sample.labels, static_cast<double>(value)});
    };
    add(reached, drift.unreachable.empty() ? 1 : 0);
    if (!drift.unreachable.empty()) continue;
    add(changes, drift.changes);
    add(blocked, drift.blocked);
    add(drifted, drift.drifted);
  }
  const auto make = [&](std::string name, std::string description, double value) {
    return Gauge{std::move(name), std::move(description), {{{{"cluster", plan.cluster}}, value}}};
  };
  return FormatGauges(
      {make("drift_exit_code",
            "Exit code of the last drift run: 0 none, 2 drift, 3 a node was not read.", exit_code),
       make("drift_timestamp_seconds", "When the last drift run ended, in seconds since 1970.",
            static_cast<double>(ended_s)),
       make("drift_warnings", "Warnings of the plan, which no apply can change.",
            static_cast<double>(plan.WarningCount())),
       std::move(reached), std::move(changes), std::move(blocked), std::move(drifted)});
}

}  // namespace reconciler
