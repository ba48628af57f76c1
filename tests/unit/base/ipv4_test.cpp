#include "reconciler/base/ipv4.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(Ipv4, ReadsOnlyPlainDottedDecimal) {
  EXPECT_EQ(ParseIpv4("192.168.1.21")->bits, 0xC0A80115u);
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.04", " 1.2.3.4", "1.2.3.4 ",
                          "1.2.3.-4", "1.2.3.+4", "0x1.2.3.4", "1..2.3"}) {
    EXPECT_EQ(ParseIpv4(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(ParseIpv4(std::string_view("1.2.3.4\0", 8)), std::nullopt);
  EXPECT_EQ(ToString(*ParseIpv4("255.0.10.100")), "255.0.10.100");
}

TEST(Ipv4, ReadsAPrefixOfAtMost32Bits) {
  EXPECT_EQ(ToString(*ParseIpv4Prefix("10.0.0.1/31")), "10.0.0.1/31");
  for (const char* bad : {"10.0.0.1", "10.0.0.1/33", "10.0.0.1/", "10.0.0.1/-1", "/24",
                          "10.0.0.1/024", "10.0.0.1/4294967304", "10.0.0.1/24 "}) {
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
  EXPECT_EQ(ParseIpv4Prefix("10.0.0.0/32")->HostCount(), 1u);
  EXPECT_EQ(ParseIpv4Prefix("128.0.0.0/1")->HostCount(), 0x7FFFFFFEu);
}

TEST(Ipv4, ANetworkHasNoHostBits) {
  const auto find_network = [](const char* text) {
    return ToString(ParseIpv4Prefix(text)->Network());
  };
  EXPECT_EQ(find_network("10.0.0.77/24"), "10.0.0.0/24");
  EXPECT_EQ(find_network("10.1.2.3/32"), "10.1.2.3/32");
  EXPECT_EQ(find_network("10.1.2.3/0"), "0.0.0.0/0");
  EXPECT_EQ(ParseIpv4Prefix("10.0.0.0/24")->Mask(), 0xFFFFFF00u);
  EXPECT_EQ(ParseIpv4Prefix("10.0.0.0/0")->Mask(), 0u);
  EXPECT_EQ(ParseIpv4Prefix("10.0.0.0/32")->Mask(), 0xFFFFFFFFu);
}

}  // namespace
}  // namespace reconciler
