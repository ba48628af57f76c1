#include "reconciler/spark_verify/nccl_id.h"

#include <gtest/gtest.h>

namespace reconciler::spark_verify {
namespace {

std::string Padded(std::string hex) {
  hex.resize(256, '0');
  return hex;
}

// As NCCL 2.28.9 gave it with NCCL_SOCKET_IFNAME=lo.
TEST(NcclId, RankZerosAddressIsReadFromARealId) {
  const auto id = ParseUniqueId(Padded("3a3061b4910b4a1d020093e37f000001"));
  ASSERT_TRUE(id);
  const auto address = AddressOf(*id);
  ASSERT_TRUE(address);
  EXPECT_EQ(address->address, "127.0.0.1");
  EXPECT_EQ(address->port, 0x93e3);
  EXPECT_FALSE(address->ipv6);
  EXPECT_EQ(ToHex(*id), Padded("3a3061b4910b4a1d020093e37f000001"));
}

TEST(NcclId, AnIpv6AddressIsRead) {
  const auto id =
      ParseUniqueId(Padded("0102030405060708"
                           "0a00"
                           "1f90"
                           "00000000"
                           "fe800000000000000000000000000001"));
  ASSERT_TRUE(id);
  const auto address = AddressOf(*id);
  ASSERT_TRUE(address);
  EXPECT_EQ(address->address, "fe80::1");
  EXPECT_EQ(address->port, 8080);
  EXPECT_TRUE(address->ipv6);
}

TEST(NcclId, WhatIsNoIdIsRefused) {
  EXPECT_EQ(ParseUniqueId("3a").error().message,
            "wanted a unique id of 256 hexadecimal digits, found 2 characters");
  EXPECT_FALSE(ParseUniqueId(Padded("xx")));
  EXPECT_EQ(AddressOf(*ParseUniqueId(Padded("00000000000000000300"))).error().message,
            "wanted rank 0's address in its unique id, found the address family 3");
}

}  // namespace
}  // namespace reconciler::spark_verify
