#include "reconciler/model/find.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(FindPort, IsByNodeOnASegmentAndByNodeAndRailInAFabric) {
  const RailPort first{.node = "spark-1", .rail = 0, .netdev = "a"};
  const RailPort second{.node = "spark-1", .rail = 1, .netdev = "b"};
  const Segment segment{.rail = 1, .ports = {second}};
  const Fabric fabric{.ports = {{"spark-1", {first, second}}}};
  ASSERT_NE(FindPort(segment, "spark-1"), nullptr);
  EXPECT_EQ(FindPort(segment, "spark-1")->netdev, "b");
  EXPECT_EQ(FindPort(segment, "spark-2"), nullptr);
  ASSERT_NE(FindPort(fabric, "spark-1", 1), nullptr);
  EXPECT_EQ(FindPort(fabric, "spark-1", 1)->netdev, "b");
  EXPECT_EQ(FindPort(fabric, "spark-1", 2), nullptr);
  EXPECT_EQ(FindPort(fabric, "spark-2", 0), nullptr);
}

TEST(FindNode, IsByItsNameInThePlan) {
  const Plan plan{.nodes = {{.name = "spark-1"}, {.name = "spark-2"}}};
  EXPECT_EQ(FindNode(plan, "spark-2"), &plan.nodes[1]);
  EXPECT_EQ(FindNode(plan, "spark-3"), nullptr);
}

}  // namespace
}  // namespace reconciler
