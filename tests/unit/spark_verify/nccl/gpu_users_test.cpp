#include "reconciler/spark_verify/nccl/gpu_users.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace reconciler::spark_verify {
namespace {

namespace fs = std::filesystem;

class GpuUsersProc : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("gpu-users-" + std::to_string(getpid()));
    fs::create_directories(root_ / "proc/sys");
  }
  void TearDown() override { fs::remove_all(root_); }

  void Process(int pid, const std::string& name, const std::string& words,
               const std::string& device) {
    const fs::path process = root_ / "proc" / std::to_string(pid);
    fs::create_directories(process / "fd");
    std::ofstream(process / "comm") << name << "\n";
    std::ofstream(process / "cmdline") << words;
    fs::create_symlink("/dev/null", process / "fd/0");
    if (!device.empty()) fs::create_symlink(device, process / "fd/7");
  }

  fs::path root_;
};

TEST_F(GpuUsersProc, WhoeverComputesIsFoundAndADesktopIsNot) {
  using namespace std::string_literals;
  Process(100, "python3", "python3\0train.py\0"s, "/dev/nvidia-uvm");
  Process(101, "Xorg", "Xorg\0"s, "/dev/nvidia0");
  Process(102, "sh", "sh\0"s, "");
  const GpuUsers users = FindGpuUsers("000F:01:00.0", "r1", root_);
  EXPECT_EQ(users.source, "proc");
  ASSERT_EQ(users.processes.size(), 1u);
  EXPECT_EQ(users.processes[0].pid, 100);
  EXPECT_EQ(users.processes[0].name, "python3");
}

TEST_F(GpuUsersProc, RanksOfTheSameRunAreNoOtherUsers) {
  using namespace std::string_literals;
  Process(100, "spark-verify", "spark-verify\0nccl\0{\"run\":\"r1\"}\0"s, "/dev/nvidia-uvm");
  Process(101, "spark-verify", "spark-verify\0nccl\0{\"run\":\"r10\"}\0"s, "/dev/nvidia-uvm");
  const GpuUsers users = FindGpuUsers("000F:01:00.0", "r1", root_);
  ASSERT_EQ(users.processes.size(), 1u);
  EXPECT_EQ(users.processes[0].pid, 101);
}

}  // namespace
}  // namespace reconciler::spark_verify
