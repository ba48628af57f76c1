#include "reconciler/planning/drift/drift_junit.h"

#include <gtest/gtest.h>

#include "tests/unit/planning/drift/drift_sample.h"

namespace reconciler {
namespace {

TEST(RenderDriftJunit, ANodeThatDiffersFailsAndOneThatWasNotReadIsAnError) {
  EXPECT_EQ(
      RenderDriftJunit(test::MakeDriftedPlan()),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"spark-reconcile drift home&quot;lab\" tests=\"4\" failures=\"2\" "
      "errors=\"1\" skipped=\"0\">\n"
      "  <testsuite name=\"drift\" tests=\"4\" failures=\"2\" errors=\"1\" skipped=\"0\">\n"
      "    <testcase classname=\"home&quot;lab.drift\" name=\"spark-1\"><failure type=\"drift\" "
      "message=\"differs from the manifest: 4\">drifted: link enp1s0f1np1: mtu 1500 → 9000\n"
      "blocked: file /etc/hosts: edited &amp; \\x1bkept\n"
      "file /x\n"
      "a line wins [foreign-line]</failure></testcase>\n"
      "    <testcase classname=\"home&quot;lab.drift\" name=\"spark-2\"></testcase>\n"
      "    <testcase classname=\"home&quot;lab.drift\" name=\"spark-3\"><error "
      "type=\"unreachable\" message=\"no &lt;route&gt;\\x1b\"></error></testcase>\n"
      "    <testcase classname=\"home&quot;lab.drift\" name=\"cluster\"><failure type=\"drift\" "
      "message=\"differs from the manifest: 1\">of the cluster [of-cluster]</failure></testcase>\n"
      "  </testsuite>\n"
      "</testsuites>\n");
}

TEST(RenderDriftJunit, WhatIsSaidOfAllNodesIsWithEachOfThem) {
  Plan plan = test::MakeDriftedPlan();
  plan.stages.clear();
  plan.diagnostics = {{.severity = Severity::kWarns,
                       .code = "both-nodes",
                       .message = "of both",
                       .nodes = {"spark-1", "spark-2"}}};
  const std::string text = RenderDriftJunit(plan);
  EXPECT_NE(text.find("tests=\"3\" failures=\"2\" errors=\"1\""), std::string::npos) << text;
}

}  // namespace
}  // namespace reconciler
