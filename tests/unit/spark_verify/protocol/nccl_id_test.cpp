#include "reconciler/spark_verify/protocol/nccl_id.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

std::string Padded(std::string hex) {
  hex.resize(256, '0');
  return hex;
}

// As NCCL 2.28.9 gave it with NCCL_SOCKET_IFNAME=lo.
TEST(NcclId, EveryByteComesBack) {
  const std::string hex = Padded("3a3061b4910b4a1d020093e37f000001");
  const auto id = ParseUniqueId(hex);
  ASSERT_TRUE(id);
  EXPECT_EQ((*id)[0], 0x3a);
  EXPECT_EQ((*id)[15], 1);
  EXPECT_EQ(ToHex(*id), hex);
}

TEST(NcclId, WhatIsNoIdIsRefused) {
  EXPECT_EQ(ParseUniqueId("3a").error().message,
            "wanted a unique id of 256 hexadecimal digits, found 2 characters");
  EXPECT_FALSE(ParseUniqueId(Padded("xx")));
}

}  // namespace
}  // namespace reconciler::spark_verify
