#include "reconciler/planning/drift/drift_metrics.h"

#include <gtest/gtest.h>

#include "tests/unit/planning/drift/drift_sample.h"

namespace reconciler {
namespace {

TEST(FormatDriftMetrics, ANodeHasItsCountsAndOneThatWasNotReadHasNone) {
  EXPECT_EQ(
      FormatDriftMetrics(test::MakeDriftedPlan(), 3, 1795564800),
      "# HELP spark_reconcile_drift_exit_code Exit code of the last drift run: 0 none, 2 drift, 3 "
      "a node was not read.\n"
      "# TYPE spark_reconcile_drift_exit_code gauge\n"
      "spark_reconcile_drift_exit_code{cluster=\"home\\\"lab\"} 3\n"
      "# HELP spark_reconcile_drift_timestamp_seconds When the last drift run ended, in seconds "
      "since 1970.\n"
      "# TYPE spark_reconcile_drift_timestamp_seconds gauge\n"
      "spark_reconcile_drift_timestamp_seconds{cluster=\"home\\\"lab\"} 1795564800\n"
      "# HELP spark_reconcile_drift_warnings Warnings of the plan, which no apply can change.\n"
      "# TYPE spark_reconcile_drift_warnings gauge\n"
      "spark_reconcile_drift_warnings{cluster=\"home\\\"lab\"} 2\n"
      "# HELP spark_reconcile_node_reached 1: the node was read. 0: it was not, and nothing is "
      "known of it.\n"
      "# TYPE spark_reconcile_node_reached gauge\n"
      "spark_reconcile_node_reached{cluster=\"home\\\"lab\",node=\"spark-1\"} 1\n"
      "spark_reconcile_node_reached{cluster=\"home\\\"lab\",node=\"spark-2\"} 1\n"
      "spark_reconcile_node_reached{cluster=\"home\\\"lab\",node=\"spark-3\"} 0\n"
      "# HELP spark_reconcile_drift_changes Changes that an apply would make on the node.\n"
      "# TYPE spark_reconcile_drift_changes gauge\n"
      "spark_reconcile_drift_changes{cluster=\"home\\\"lab\",node=\"spark-1\"} 2\n"
      "spark_reconcile_drift_changes{cluster=\"home\\\"lab\",node=\"spark-2\"} 0\n"
      "# HELP spark_reconcile_drift_blocked Changes that the node needs and an apply would not "
      "make.\n"
      "# TYPE spark_reconcile_drift_blocked gauge\n"
      "spark_reconcile_drift_blocked{cluster=\"home\\\"lab\",node=\"spark-1\"} 1\n"
      "spark_reconcile_drift_blocked{cluster=\"home\\\"lab\",node=\"spark-2\"} 0\n"
      "# HELP spark_reconcile_drift_drifted Of drift_changes and drift_blocked: those of what "
      "differs from what was applied.\n"
      "# TYPE spark_reconcile_drift_drifted gauge\n"
      "spark_reconcile_drift_drifted{cluster=\"home\\\"lab\",node=\"spark-1\"} 1\n"
      "spark_reconcile_drift_drifted{cluster=\"home\\\"lab\",node=\"spark-2\"} 0\n");
}

}  // namespace
}  // namespace reconciler
