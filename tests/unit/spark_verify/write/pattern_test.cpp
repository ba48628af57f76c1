#include "reconciler/spark_verify/write/pattern.h"

#include <gtest/gtest.h>

#include <vector>

namespace reconciler::spark_verify {
namespace {

TEST(Pattern, IsFoundRightAndEveryWrongByteIsNamed) {
  std::vector<std::byte> bytes(29);  // not a whole number of words
  Fill(bytes, 7);
  EXPECT_EQ(FindFirstDifference(bytes, 7), std::nullopt);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    EXPECT_EQ(FindFirstDifference(bytes, 7), i);
    bytes[i] ^= std::byte{1};
  }
}

TEST(Pattern, OfAnotherSeedOrNothingWrittenShows) {
  std::vector<std::byte> bytes(4096);
  EXPECT_TRUE(FindFirstDifference(bytes, 7).has_value());
  Fill(bytes, 8);
  EXPECT_TRUE(FindFirstDifference(bytes, 7).has_value());
}

TEST(Pattern, WordsThatChangedPlacesShow) {
  std::vector<std::byte> bytes(64);
  Fill(bytes, 7);
  std::swap_ranges(bytes.begin(), bytes.begin() + 8, bytes.begin() + 8);
  EXPECT_TRUE(FindFirstDifference(bytes, 7).has_value());
}

}  // namespace
}  // namespace reconciler::spark_verify
