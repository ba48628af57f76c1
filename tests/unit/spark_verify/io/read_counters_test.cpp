#include "reconciler/spark_verify/io/read_counters.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include "tests/support/temporary_folder.h"

namespace reconciler::spark_verify {
namespace {

TEST(ReadCounters, ReadsBothFoldersWhateverTheNames) {
  const test::TemporaryFolder folder;
  const std::filesystem::path& root = folder.Path();
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

TEST(ReadLimits, OfAConnectX7AndOfADeviceMadeOfSoftware) {
  const test::TemporaryFolder folder;
  const std::filesystem::path& root = folder.Path();
  const auto hca = root / "sys/class/infiniband/rocep1s0f1";
  std::filesystem::create_directories(hca / "device");
  std::filesystem::create_directories(hca / "ports/1/gid_attrs/ndevs");
  std::filesystem::create_directories(root / "sys/class/net/enp1s0f1np1");
  std::ofstream(hca / "ports/1/gid_attrs/ndevs/0") << "enp1s0f1np1\n";
  std::ofstream(root / "sys/class/net/enp1s0f1np1/speed") << "200000\n";
  std::ofstream(hca / "device/current_link_width") << "2\n";
  std::ofstream(hca / "device/max_link_width") << "16\n";
  std::ofstream(hca / "device/current_link_speed") << "32.0 GT/s PCIe\n";
  const Limits limits = ReadLimits(root, "rocep1s0f1");
  EXPECT_TRUE(limits.hardware);
  EXPECT_EQ(limits.link_mbps, 200000);
  EXPECT_EQ(limits.pcie_width, 2);
  EXPECT_EQ(limits.pcie_max_width, 16);
  EXPECT_EQ(limits.pcie_gts, 32);

  std::filesystem::remove_all(hca / "device");
  std::ofstream(root / "sys/class/net/enp1s0f1np1/speed") << "-1\n";
  EXPECT_FALSE(ReadLimits(root, "rocep1s0f1").hardware);
  EXPECT_EQ(ReadLimits(root, "rocep1s0f1").link_mbps, 0);
  EXPECT_EQ(ReadLimits(root, "rocep1s0f1").pcie_width, 0);
}

}  // namespace
}  // namespace reconciler::spark_verify
