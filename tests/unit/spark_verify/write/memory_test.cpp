#include "reconciler/spark_verify/write/memory.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST(Memory, IsReadFromMeminfo) {
  const HostMemory memory = ParseMemory(
      "MemTotal:       125511060 kB\nMemFree:          2000000 kB\nMemAvailable:   115000000 kB\n"
      "SwapTotal:       16777212 kB\nSwapFree:        16776188 kB\nHugePages_Total:       0\n");
  EXPECT_EQ(memory.available, std::uint64_t{115000000} << 10);
  EXPECT_EQ(memory.swap_used, 1024u << 10);
  EXPECT_EQ(ParseMemory("").available, 0u);
}

TEST(Memory, ALineWithoutANumberIsNone) {
  const HostMemory memory = ParseMemory(
      "MemAvailable: -5 kB\nSwapTotal:\nSwapFree: 99999999999999999999 kB\nMemAvailableX: 5 kB\n");
  EXPECT_EQ(memory.available, 0u);
  EXPECT_EQ(memory.swap_used, 0u);
  EXPECT_EQ(ParseMemory("MemAvailable: 3 kB\nMemAvailable: many").available, 3u << 10);
}

// A quarter of what may be used at all: a 16 GiB test froze machines.
TEST(Memory, UnifiedMemoryKeepsItsReserve) {
  const NcclOptions options{.sizes = {{4096}}};
  NcclHello hello{.integrated = true, .gpu_free = 100 * kGiB, .mem_available = 10 * kGiB};
  EXPECT_EQ(ComputeMaxBytes(hello, options), kGiB / 2);
  hello.mem_available = 7 * kGiB;
  EXPECT_EQ(ComputeMaxBytes(hello, options), 0u);
  hello.mem_available = 110 * kGiB;
  EXPECT_EQ(ComputeMaxBytes(hello, options), kGiB);
}

// What the host has is of no matter to a GPU with memory of its own.
TEST(Memory, AGpusOwnMemoryHoldsTwoBuffersBesideNccls) {
  const NcclOptions options{.sizes = {{4096}}};
  const NcclHello hello{.integrated = false, .gpu_free = 2 * kGiB, .mem_available = kGiB};
  EXPECT_EQ(ComputeMaxBytes(hello, options), kGiB / 4);
}

TEST(Memory, TheLargestSizeDecides) {
  const NcclOptions options{.sizes = {{8}, {kGiB}, {4096}}};
  NcclHello hello{.integrated = true, .mem_available = 10 * kGiB, .max_bytes = kGiB / 2};
  EXPECT_EQ(FindMemoryRefusal(hello, options),
            "wanted room for 1073741824 bytes, found 10737418240 bytes of memory available, which "
            "with 8589934592 kept free is enough for 536870912");
  hello.max_bytes = kGiB;
  EXPECT_EQ(FindMemoryRefusal(hello, options), "");
}

}  // namespace
}  // namespace reconciler::spark_verify
