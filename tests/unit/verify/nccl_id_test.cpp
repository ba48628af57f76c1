#include "reconciler/verify/nccl_id.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

// The id of a rank at 192.168.1.21 port 43321 (0xa939).
std::string Id(std::string_view family = "0200", std::string_view address = "c0a80115",
               std::string_view port = "a939") {
  std::string hex = "5a1c0e77d2b94a03";
  hex.append(family).append(port).append(address);
  return hex.append(2 * kNcclIdBytes - hex.size(), '0');
}

constexpr Ipv4Prefix kManagement = {.address = {0xC0A80115}, .length = 24};

std::string WhyRefused(std::string_view hex) {
  const auto root = DecodeNcclId(hex);
  EXPECT_FALSE(root);
  return root ? "" : root.error().message + "; " + root.error().hint;
}

TEST(NcclId, TellsWhereTheFirstRankWaits) {
  const auto root = DecodeNcclId(Id());
  ASSERT_TRUE(root);
  EXPECT_EQ(ToString(root->address), "192.168.1.21");
  EXPECT_EQ(root->port, 43321);
  EXPECT_TRUE(CheckNcclRoot(*root, kManagement, "spark-1", "enP7s7"));
}

TEST(NcclId, AnAddressThatTheOthersMayNotReachIsRefused) {
  const auto root = DecodeNcclId(Id("0200", "ac110001"));
  ASSERT_TRUE(root);
  const auto checked = CheckNcclRoot(*root, kManagement, "spark-1", "enP7s7");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            "wanted NCCL on spark-1 to wait for the others in 192.168.1.0/24 (enP7s7), found "
            "172.17.0.1 port 43321");
  EXPECT_EQ(checked.error().hint, "look at NCCL_SOCKET_IFNAME and NCCL_COMM_ID on spark-1");
}

TEST(NcclId, NoPortIsNoAddress) {
  const auto root = DecodeNcclId(Id("0200", "c0a80115", "0000"));
  ASSERT_TRUE(root);
  EXPECT_FALSE(CheckNcclRoot(*root, kManagement, "spark-1", "enP7s7"));
}

TEST(NcclId, WhatIsNoIdIsRefused) {
  EXPECT_EQ(WhyRefused("ab"),
            "wanted NCCL's unique id as 256 hexadecimal digits, found 2 characters; spark-verify "
            "and spark-reconcile are of different versions");
  EXPECT_EQ(WhyRefused(Id().replace(4, 1, "x")),
            "wanted NCCL's unique id as 256 hexadecimal digits, found 256 characters; spark-verify "
            "and spark-reconcile are of different versions");
  EXPECT_EQ(WhyRefused(Id("0a00")),
            "wanted an IPv4 address in NCCL's unique id, found an IPv6 address; write "
            "NCCL_SOCKET_FAMILY: AF_INET into nccl.env");
  EXPECT_EQ(WhyRefused(Id("0000")),
            "wanted an address in NCCL's unique id, found one of family 0; this build of NCCL has "
            "another form of id: take a release");
}

}  // namespace
}  // namespace reconciler
