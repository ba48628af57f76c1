#include "reconciler/spark_verify/protocol/gid.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

GidEntry Entry(int index, std::string_view gid, GidType type) {
  return {.index = index, .gid = *ParseGid(gid), .type = type};
}

// A ConnectX-7 with a stable-privacy address: the entry that most guides call 3 is number 5.
const std::vector<GidEntry> kMlx5 = {Entry(0, "fe80::1", GidType::kRoceV1),
                                     Entry(1, "fe80::1", GidType::kRoceV2),
                                     Entry(2, "fe80::2", GidType::kRoceV1),
                                     Entry(3, "fe80::2", GidType::kRoceV2),
                                     Entry(4, "::ffff:192.168.177.1", GidType::kRoceV1),
                                     Entry(5, "::ffff:192.168.177.1", GidType::kRoceV2)};

TEST(ChooseGid, TakesVersion2OfTheAddressWhereverItStands) {
  EXPECT_EQ(ChooseGid(kMlx5, "rocep1s0f1", "192.168.177.1")->index, 5);
}

TEST(ChooseGid, AnAddressThatIsMissingIsReportedWithTheWholeTable) {
  const auto chosen = ChooseGid({kMlx5[0], kMlx5[4]}, "rocep1s0f1", "192.168.177.1");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message,
            "wanted a RoCE v2 GID for 192.168.177.1 on rocep1s0f1, found 0 "
            "fe80:0000:0000:0000:0000:0000:0000:0001 RoCE v1, 4 192.168.177.1 RoCE v1");
  EXPECT_EQ(ChooseGid({}, "rocep1s0f1", "192.168.177.1").error().message,
            "wanted a RoCE v2 GID for 192.168.177.1 on rocep1s0f1, found an empty table");
}

TEST(ChooseGid, TheSameAddressTwiceIsNotGuessedAt) {
  const auto chosen = ChooseGid({kMlx5[5], Entry(7, "::ffff:192.168.177.1", GidType::kRoceV2)},
                                "mlx5_0", "192.168.177.1");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message,
            "wanted one RoCE v2 GID for 192.168.177.1 on mlx5_0, found 5 192.168.177.1 RoCE v2, 7 "
            "192.168.177.1 RoCE v2");
}

TEST(Gid, OnlyAMappedAddressIsAnIpv4Address) {
  EXPECT_EQ(FormatIpv4(*ParseGid("::ffff:10.0.0.1")), "10.0.0.1");
  EXPECT_EQ(FormatIpv4(*ParseGid("::10.0.0.1")), "");
  EXPECT_EQ(FormatIpv4(*ParseGid("fe80::ffff:a00:1")), "");
  EXPECT_EQ(ParseGid("rail0").error().message, "wanted a GID like fe80::1, found 'rail0'");
}

TEST(Gid, TextAndBytesAreTheSame) {
  const Gid gid = *ParseGid("fe80::53:50ff:fe00:102");
  EXPECT_EQ(ToString(gid), "fe80:0000:0000:0000:0053:50ff:fe00:0102");
  EXPECT_EQ(*ParseGid(ToString(gid)), gid);
}

}  // namespace
}  // namespace reconciler::spark_verify
