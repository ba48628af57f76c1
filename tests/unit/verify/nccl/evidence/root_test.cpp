#include "reconciler/verify/nccl/evidence/root.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

// The id of a rank at 192.168.1.21 port 43321 (0xa939).
std::string Id(std::string_view address = "c0a80115", std::string_view port = "a939",
               std::string_view family = "0200") {
  std::string hex = "5a1c0e77d2b94a03";
  hex.append(family).append(port).append(address);
  return hex.append(256 - hex.size(), '0');
}

Result<std::string> CheckId(const std::string& id) {
  return CheckNcclRoot(id, BootstrapNetwork{{.address = {0xC0A80115}, .length = 24}, "enP7s7"},
                       "spark-1");
}

TEST(NcclRoot, AnAddressInTheBootstrapNetworkIsReported) {
  const auto root = CheckId(Id());
  ASSERT_TRUE(root);
  EXPECT_EQ(*root, "192.168.1.21:43321");
}

TEST(NcclRoot, AnAddressThatTheOthersMayNotReachIsRefused) {
  const auto root = CheckId(Id("ac110001"));
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().message,
            "wanted NCCL on spark-1 to wait for the others in 192.168.1.0/24 (enP7s7), found "
            "172.17.0.1 port 43321");
  EXPECT_EQ(root.error().hint, "check NCCL_SOCKET_IFNAME and NCCL_COMM_ID on spark-1");
}

TEST(NcclRoot, LoopbackReachesNoNodeWhateverTheNetwork) {
  const auto root = CheckNcclRoot(Id("7f000001"), BootstrapNetwork{{}, "any interface"}, "spark-1");
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().message,
            "wanted NCCL on spark-1 to wait for the others in 0.0.0.0/0 (any interface), found "
            "127.0.0.1 port 43321");
  EXPECT_TRUE(CheckNcclRoot(Id(), BootstrapNetwork{{}, "any interface"}, "spark-1"));
}

TEST(NcclRoot, WhereNoOneKnowsTheNetworkEveryAddressIsRefused) {
  const auto root = CheckNcclRoot(Id(), std::nullopt, "spark-1");
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().message,
            "wanted to know in which network NCCL on spark-1 should wait for the others, found no "
            "IPv4 address of its interface");
  EXPECT_EQ(root.error().hint, "name the interface: write NCCL_SOCKET_IFNAME into nccl.env");
}

TEST(NcclRoot, WithoutAPortNoOneIsReached) { EXPECT_FALSE(CheckId(Id("c0a80115", "0000"))); }

TEST(NcclRoot, Ipv6AndWhatIsNoIdAreRefused) {
  const auto ipv6 = CheckId(Id("00000000", "a939", "0a00"));
  ASSERT_FALSE(ipv6);
  EXPECT_EQ(ipv6.error().message,
            "wanted NCCL on spark-1 to wait for the others at an IPv4 address, found an IPv6 "
            "address");
  EXPECT_EQ(ipv6.error().hint, "write NCCL_SOCKET_FAMILY: AF_INET into nccl.env");
  const auto none = CheckId(Id("c0a80115", "a939", "0000"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "wanted the address of NCCL on spark-1 in its unique id, found one of family 0");
  EXPECT_EQ(none.error().hint, "this build of NCCL has another form of id: take a release");
  EXPECT_FALSE(CheckId("ab"));
}

}  // namespace
}  // namespace reconciler
