#include "reconciler/spark_verify/counters.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace reconciler::spark_verify {
namespace {

TEST(Growth, OnlyWhatGrewIsLeftAndAWrapAt32BitsCounts) {
  const Counters before = {
      {"mlx5_0", {{"out_of_sequence", 4294967290u}, {"same", 5}, {"gone", 1}}}};
  const Counters after = {{"mlx5_0", {{"out_of_sequence", 4}, {"same", 5}, {"new", 9}}},
                          {"mlx5_1", {{"out_of_sequence", 1}}}};
  EXPECT_EQ(Growth(before, after), (Counters{{"mlx5_0", {{"out_of_sequence", 10}}}}));
}

TEST(ReadCounters, ReadsBothFoldersWhateverTheNames) {
  const std::filesystem::path root = testing::TempDir() + "spark_verify_counters";
  std::filesystem::remove_all(root);
  const auto port = root / "sys/class/infiniband/mlx5_0/ports/1";
  std::filesystem::create_directories(port / "hw_counters");
  std::filesystem::create_directories(port / "counters");
  std::ofstream(port / "hw_counters/out_of_sequence") << "3\n";
  std::ofstream(port / "hw_counters/lifespan") << "10\n";
  std::ofstream(port / "counters/port_xmit_data") << "18446744073709551615\n";
  std::ofstream(port / "counters/VL15_dropped") << "N/A (no PMA)\n";
  EXPECT_EQ(
      ReadCounters(root),
      (Counters{{"mlx5_0", {{"out_of_sequence", 3}, {"port_xmit_data", 18446744073709551615u}}}}));
  EXPECT_EQ(ReadCounters(root / "nothing"), Counters{});
}

}  // namespace
}  // namespace reconciler::spark_verify
