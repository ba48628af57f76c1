#include "reconciler/fabric/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reconciler {
namespace {

using testing::Contains;
using testing::Not;

std::vector<std::string> ListCodes(const ClusterSpec& cluster, const Fabric& fabric) {
  std::vector<std::string> codes;
  for (const Diagnostic& one : DiagnoseFabric(cluster, fabric)) codes.push_back(one.code);
  return codes;
}

Wire Join(const std::string& a, const std::string& b) {
  return {.a = {.device = a, .port = "swp1", .on_switch = true},
          .b = {.device = b, .port = "swp2", .on_switch = true}};
}

TEST(DiagnoseFabric, SwitchesInALoopAreNamedAndATreeIsNot) {
  Fabric fabric;
  fabric.wires = {Join("leaf-1", "spine-1"), Join("leaf-2", "spine-1")};
  EXPECT_THAT(ListCodes({}, fabric), Not(Contains("fabric-switch-loop")));
  fabric.wires.push_back(Join("leaf-1", "spine-1"));  // a second cable between the same two
  EXPECT_THAT(ListCodes({}, fabric), Not(Contains("fabric-switch-loop")));
  fabric.wires.push_back(Join("leaf-1", "leaf-2"));
  EXPECT_THAT(ListCodes({}, fabric), Contains("fabric-switch-loop"));
}

}  // namespace
}  // namespace reconciler
