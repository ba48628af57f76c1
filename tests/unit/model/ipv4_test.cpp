#include "reconciler/model/ipv4.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(Ipv4, ReadsOnlyPlainDottedDecimal) {
  EXPECT_EQ(ParseIpv4("192.168.1.21")->bits, 0xC0A80115u);
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.04", " 1.2.3.4", "1.2.3.4 ",
                          "1.2.3.-4", "1.2.3.+4", "0x1.2.3.4", "1..2.3"}) {
    EXPECT_EQ(ParseIpv4(bad), std::nullopt) << bad;
  }
}

TEST(Ipv4, ReadsAPrefixOfAtMost32Bits) {
  EXPECT_EQ(ToString(*ParseIpv4Prefix("10.0.0.1/31")), "10.0.0.1/31");
  for (const char* bad : {"10.0.0.1", "10.0.0.1/33", "10.0.0.1/", "10.0.0.1/-1", "/24"}) {
    EXPECT_EQ(ParseIpv4Prefix(bad), std::nullopt) << bad;
  }
}

TEST(Ipv4, OverlapIsSymmetricAndSeesContainment) {
  const auto prefix = [](const char* text) { return *ParseIpv4Prefix(text); };
  EXPECT_TRUE(prefix("192.168.0.0/16").Overlaps(prefix("192.168.177.0/24")));
  EXPECT_TRUE(prefix("192.168.177.0/24").Overlaps(prefix("192.168.0.0/16")));
  EXPECT_FALSE(prefix("192.168.177.0/24").Overlaps(prefix("192.168.178.0/24")));
  EXPECT_TRUE(prefix("0.0.0.0/0").Overlaps(prefix("10.0.0.1/32")));
}

TEST(Ipv4, CountsHostsWithoutNetworkAndBroadcast) {
  EXPECT_EQ(ParseIpv4Prefix("10.0.0.0/24")->HostCount(), 254u);
  EXPECT_EQ(ParseIpv4Prefix("10.0.0.0/30")->HostCount(), 2u);
  EXPECT_EQ(ParseIpv4Prefix("10.0.0.0/31")->HostCount(), 2u);
  EXPECT_EQ(ToString(ParseIpv4Prefix("10.0.0.77/24")->Network()), "10.0.0.0/24");
}

}  // namespace
}  // namespace reconciler
