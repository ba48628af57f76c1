#include "reconciler/metrics/prometheus.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(FormatGauges, EachGaugeHasItsHelpItsTypeAndALinePerSample) {
  EXPECT_EQ(FormatGauges({{"a", "One.", {{{{"cluster", "lab"}, {"node", "spark-1"}}, 1}}},
                          {"b", "Two.", {{{{"cluster", "lab"}}, 0}, {{}, 2}}}}),
            "# HELP spark_reconcile_a One.\n"
            "# TYPE spark_reconcile_a gauge\n"
            "spark_reconcile_a{cluster=\"lab\",node=\"spark-1\"} 1\n"
            "# HELP spark_reconcile_b Two.\n"
            "# TYPE spark_reconcile_b gauge\n"
            "spark_reconcile_b{cluster=\"lab\"} 0\n"
            "spark_reconcile_b{} 2\n");
}

TEST(FormatGauges, AGaugeWithoutSamplesIsLeftOut) {
  EXPECT_EQ(FormatGauges({{"a", "One.", {}}}), "");
}

TEST(FormatGauges, WhatANodeSaysCannotEndALabelOrALine) {
  EXPECT_EQ(FormatGauges({{"a", "One.", {{{{"node", "x\"\\\n\033\xff"}}, 1}}}}),
            "# HELP spark_reconcile_a One.\n"
            "# TYPE spark_reconcile_a gauge\n"
            "spark_reconcile_a{node=\"x\\\"\\\\\\\\x0a\\\\x1b\\\\xff\"} 1\n");
}

TEST(FormatGauges, LargeWholeNumbersKeepAllDigits) {
  const std::string text = FormatGauges(
      {{"a", "One.", {{{}, 1795564800}, {{}, 105100000000}, {{}, 0.0000025}, {{}, 12.345}}}});
  EXPECT_EQ(text.substr(text.find("gauge\n") + 6),
            "spark_reconcile_a{} 1795564800\n"
            "spark_reconcile_a{} 105100000000\n"
            "spark_reconcile_a{} 2.5e-06\n"
            "spark_reconcile_a{} 12.345\n");
}

}  // namespace
}  // namespace reconciler
