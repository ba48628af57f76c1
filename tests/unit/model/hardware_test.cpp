#include "reconciler/model/hardware.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace reconciler {
namespace {

TEST(GetDgxSpark, NamesBothTwinsOfBothCages) {
  const Cage* right = GetDgxSpark().FindCage("p1");
  ASSERT_NE(right, nullptr);
  EXPECT_EQ(right->twins[0].netdev, "enp1s0f1np1");
  EXPECT_EQ(right->twins[0].hca, "rocep1s0f1");
  EXPECT_EQ(right->twins[1].netdev, "enP2p1s0f1np1");
  EXPECT_EQ(right->twins[1].hca, "roceP2p1s0f1");
  const Cage* left = GetDgxSpark().FindCage("p0");
  ASSERT_NE(left, nullptr);
  EXPECT_EQ(left->twins[0].netdev, "enp1s0f0np0");
  EXPECT_EQ(left->twins[1].hca, "roceP2p1s0f0");
  EXPECT_EQ(GetDgxSpark().FindCage("p2"), nullptr);
}

// An interface name has at most 15 bytes, and all of them differ.
TEST(GetDgxSpark, NamesAreUniqueAndFitTheKernel) {
  std::set<std::string_view> names;
  for (const Cage& cage : GetDgxSpark().cages) {
    for (const Twin& twin : cage.twins) {
      EXPECT_LE(twin.netdev.size(), 15u);
      names.insert(twin.netdev);
      names.insert(twin.hca);
    }
  }
  EXPECT_EQ(names.size(), 8u);
}

}  // namespace
}  // namespace reconciler
