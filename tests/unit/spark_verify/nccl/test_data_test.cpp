#include "reconciler/spark_verify/nccl/test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace reconciler::spark_verify {
namespace {

float At(std::span<const std::byte> tile, DataType type, std::size_t i) {
  std::uint32_t bits = 0;
  if (type == DataType::kFloat) {
    std::memcpy(&bits, tile.data() + 4 * i, 4);
  } else {
    std::uint16_t upper = 0;
    std::memcpy(&upper, tile.data() + 2 * i, 2);
    bits = static_cast<std::uint32_t>(upper) << 16;
  }
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}

// Rounding to bfloat16 would show as a sum of parts that is not the sum.
TEST(TestData, SumsOfAllRanksAreExactInEveryType) {
  for (const int ranks : {2, 3, 8, 64}) {
    for (const DataType type : {DataType::kFloat, DataType::kBfloat16}) {
      const auto sum = MakeTile(type, kSumOfAll, ranks);
      std::vector<std::vector<std::byte>> parts;
      for (int rank = 0; rank < ranks; ++rank) parts.push_back(MakeTile(type, rank, ranks));
      for (std::size_t i = 0; i < 1000; ++i) {
        float total = 0;
        for (const auto& part : parts) total += At(part, type, i);
        ASSERT_EQ(At(sum, type, i), total) << ranks << " " << i;
        ASSERT_LE(total, 256);
      }
    }
  }
}

TEST(TestData, RanksSendDifferentThings) {
  const auto tile = MakeTile(DataType::kFloat, 0, 4);
  EXPECT_GT(CountWrong(MakeTile(DataType::kFloat, 1, 4), DataType::kFloat, tile, 0), kTile / 2);
}

TEST(TestData, EveryWrongElementIsCountedAcrossTheSeamOfTheTile) {
  const DataType type = DataType::kBfloat16;
  const auto tile = MakeTile(type, 1, 2);
  std::vector<std::byte> bytes;
  for (int i = 0; i < 3; ++i) bytes.insert(bytes.end(), tile.begin(), tile.end());
  const std::span<const std::byte> from_5(bytes.data() + 10, bytes.size() - 10);
  EXPECT_EQ(CountWrong(from_5, type, tile, 5), 0u);
  EXPECT_EQ(CountWrong(from_5, type, tile, 5 + kTile), 0u);
  EXPECT_GT(CountWrong(from_5, type, tile, 6), kTile);
  bytes[10] ^= std::byte{1};
  bytes[tile.size() * 2] ^= std::byte{1};
  bytes[tile.size() * 2 + 1] ^= std::byte{1};
  bytes.back() ^= std::byte{0x80};
  EXPECT_EQ(CountWrong(from_5, type, tile, 5), 3u);
}

// Whoever gets a block that was meant for another, or at another place, must notice.
TEST(TestData, ABlockAtAnotherPlaceShows) {
  const auto tile = MakeTile(DataType::kFloat, 0, 2);
  for (const std::size_t shift : {1u, 4u, 1024u, 65536u, 1u << 20}) {
    EXPECT_GT(CountWrong(tile, DataType::kFloat, tile, shift), kTile / 2) << shift;
  }
}

TEST(TestData, LayoutsAreThoseOfNcclTests) {
  const auto reduce = MakeLayout(Collective::kAllReduce, DataType::kFloat, 1u << 20, 1, 4, false);
  EXPECT_EQ(reduce.count, 1u << 18);
  EXPECT_EQ(reduce.bytes, 1u << 20);
  const auto gather = MakeLayout(Collective::kAllGather, DataType::kFloat, 1u << 20, 1, 4, true);
  EXPECT_EQ(gather.count, 1u << 16);
  EXPECT_EQ(gather.send_at, 1u << 16);
  EXPECT_EQ(gather.results.size(), 4u);
  EXPECT_EQ(gather.results[3], (Segment{.at = 3u << 16, .count = 1u << 16, .source = 3}));
  const auto scatter =
      MakeLayout(Collective::kReduceScatter, DataType::kBfloat16, 1u << 20, 3, 4, true);
  EXPECT_EQ(scatter.count, 1u << 17);
  EXPECT_EQ(scatter.send_count, 1u << 19);
  EXPECT_EQ(scatter.recv_at, 3u << 17);
  EXPECT_EQ(scatter.results.at(0),
            (Segment{.at = 3u << 17, .count = 1u << 17, .source = kSumOfAll, .from = 3u << 17}));
  const auto all = MakeLayout(Collective::kAllToAll, DataType::kFloat, 1u << 20, 2, 4, false);
  EXPECT_EQ(all.results.at(1),
            (Segment{.at = 1u << 16, .count = 1u << 16, .source = 1, .from = 2u << 16}));
  const auto ring = MakeLayout(Collective::kSendRecv, DataType::kFloat, 8, 0, 4, false);
  EXPECT_EQ(ring.results.at(0).source, 3);
}

TEST(TestData, SizesAreRoundedDownToWholeBlocksOf16Bytes) {
  EXPECT_EQ(MakeLayout(Collective::kAllGather, DataType::kFloat, 1000, 0, 3, false).bytes, 960u);
  EXPECT_EQ(MakeLayout(Collective::kAllToAll, DataType::kBfloat16, 30, 0, 3, false).bytes, 30u);
  EXPECT_EQ(MakeLayout(Collective::kAllGather, DataType::kFloat, 1, 0, 3, false).bytes, 12u);
  EXPECT_EQ(MakeLayout(Collective::kAllReduce, DataType::kFloat, 1, 0, 3, false).bytes, 4u);
}

}  // namespace
}  // namespace reconciler::spark_verify
