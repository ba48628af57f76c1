#include "reconciler/verify/nccl_root.h"

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

Result<std::string> Check(const std::string& id) {
  return CheckNcclRoot(id, {{.address = {0xC0A80115}, .length = 24}, "enP7s7"}, "spark-1");
}

TEST(NcclRoot, AnAddressInTheBootstrapNetworkIsTold) {
  const auto root = Check(Id());
  ASSERT_TRUE(root);
  EXPECT_EQ(*root, "192.168.1.21:43321");
}

TEST(NcclRoot, AnAddressThatTheOthersMayNotReachIsRefused) {
  const auto root = Check(Id("ac110001"));
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().message,
            "wanted NCCL on spark-1 to wait for the others in 192.168.1.0/24 (enP7s7), found "
            "172.17.0.1 port 43321");
  EXPECT_EQ(root.error().hint,
            "look at NCCL_SOCKET_IFNAME, NCCL_SOCKET_FAMILY and NCCL_COMM_ID on spark-1");
}

TEST(NcclRoot, WithoutAPortNobodyIsReached) { EXPECT_FALSE(Check(Id("c0a80115", "0000"))); }

TEST(NcclRoot, Ipv6AndWhatIsNoIdAreRefused) {
  EXPECT_EQ(Check(Id("c0a80115", "a939", "0a00")).error().message,
            "wanted NCCL on spark-1 to wait for the others in 192.168.1.0/24 (enP7s7), found :: "
            "port 43321");
  EXPECT_FALSE(Check(Id("c0a80115", "a939", "0000")));
  EXPECT_FALSE(Check("ab"));
}

}  // namespace
}  // namespace reconciler
