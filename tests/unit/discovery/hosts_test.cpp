#include "reconciler/discovery/hosts.h"

#include <gmock/gmock.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

auto Host(const std::string& name, const std::string& address) {
  return AllOf(Field(&FoundHost::name, name), Field(&FoundHost::address, address));
}

TEST(FindHosts, AMachineThatAnnouncesItselfOnTwoNetworksIsOneHost) {
  const FoundHosts hosts = ChooseHosts(
      ParseMdns("+;enP7s7;IPv4;spark-1a2b;_ssh._tcp;local\n"
                "=;enp1s0f1np1;IPv4;spark-1a2b;_ssh._tcp;local;spark-1a2b.local;169.254.8.1;22;\n"
                "=;enP7s7;IPv4;spark-1a2b;_ssh._tcp;local;spark-1a2b.local;192.168.1.21;22;\n"
                "=;enP7s7;IPv6;spark-1a2b;_ssh._tcp;local;spark-1a2b.local;fe80::1;22;\n"
                "=;wlan0;IPv4;spark-1a2b;_ssh._tcp;local;Spark-1a2b.local;192.168.7.3;22;\n"),
      "spark*");
  ASSERT_THAT(hosts.chosen, ElementsAre(Host("spark-1a2b", "192.168.1.21")));
  EXPECT_THAT(hosts.chosen.front().others, ElementsAre("192.168.7.3", "169.254.8.1"));
  EXPECT_THAT(hosts.left_out, IsEmpty());
}

TEST(FindHosts, TheNetworkThatMostOfTheMachinesAreOnIsTaken) {
  const std::string here = ";IPv4;spark-1;_ssh._tcp;local;spark-1.local;";
  const FoundHosts hosts = ChooseHosts(
      ParseMdns("=;lo" + here + "127.0.0.1;22;\n=;docker0" + here + "172.17.0.1;22;\n" +
                "=;enP7s7" + here + "192.168.1.21;22;\n" +
                "=;enP7s7;IPv4;spark-2;_ssh._tcp;local;spark-2.local;192.168.1.22;22;\n" +
                "=;docker0;IPv4;box;_ssh._tcp;local;box.local;172.17.0.2;22;\n"),
      "spark*");
  ASSERT_THAT(hosts.chosen,
              ElementsAre(Host("spark-1", "192.168.1.21"), Host("spark-2", "192.168.1.22")));
  EXPECT_THAT(hosts.chosen.front().others, ElementsAre("172.17.0.1"));
}

TEST(FindHosts, WhatIsNoRecordOfAnAddressIsLeftOut) {
  EXPECT_THAT(ParseMdns("=;a;IPv4\n=;a;IPv4;s;t;d;host.local;not an address;22\n"
                        "=;a;IPv4;s;t;d;;192.168.1.1;22\nFailed to resolve\n")
                  .records,
              IsEmpty());
}

TEST(FindHosts, HostsAreSortedByTheirAddressesAsNumbers) {
  const FoundHosts hosts = ChooseHosts({.records = {{"a", {"spark-b"}, {{"192.168.1.100", ""}}},
                                                    {"b", {"spark-a"}, {{"192.168.1.21", ""}}},
                                                    {"c", {"nas"}, {{"192.168.1.5", ""}}}}},
                                       "spark*");
  EXPECT_THAT(hosts.chosen,
              ElementsAre(Host("spark-a", "192.168.1.21"), Host("spark-b", "192.168.1.100")));
  EXPECT_THAT(hosts.left_out, ElementsAre(Host("nas", "192.168.1.5")));
}

TEST(FindHosts, AKnownHostIsOneByItsKeysNamesAndAddresses) {
  const FoundHosts hosts = ChooseHosts(ParseKnownHosts("# a comment\n"
                                                       "spark-1,192.168.1.21 ssh-ed25519 AAAA1\n"
                                                       "spark-1 ssh-rsa BBBB1\n"
                                                       "192.168.177.1 ssh-ed25519 AAAA1 ada\n"
                                                       "spark-2 ssh-ed25519 AAAA2\n"
                                                       "192.168.1.23 ssh-ed25519 AAAA3\n"),
                                       "spark-?");
  ASSERT_THAT(hosts.chosen,
              ElementsAre(Host("spark-1", "192.168.1.21"), Host("spark-2", "spark-2")));
  EXPECT_THAT(hosts.chosen.front().others, ElementsAre("192.168.177.1"));
  EXPECT_THAT(hosts.left_out, ElementsAre(Host("", "192.168.1.23")));
}

TEST(FindHosts, AnyNameOfAMachineMayMatch) {
  const FoundHosts hosts = ChooseHosts(ParseKnownHosts("dgx-left ssh-ed25519 AAAA1\n"
                                                       "spark-1a2b.local ssh-ed25519 AAAA1\n"
                                                       "alias,spark-9 ssh-ed25519 AAAA9\n"
                                                       "github.com ssh-ed25519 AAAA3\n"),
                                       "spark*");
  EXPECT_THAT(hosts.chosen, ElementsAre(Host("spark-1a2b.local", "spark-1a2b.local"),
                                        Host("spark-9", "spark-9")));
  EXPECT_THAT(hosts.left_out, ElementsAre(Host("github.com", "github.com")));
}

// A Spark that is its own controller sees all machines on the fabric, too.
TEST(FindHosts, OfTwoNetworksWithAllMachinesThePreferredOneIsTaken) {
  std::string seen;
  for (const std::string node : {"1", "2"}) {
    const std::string host = ";IPv4;spark-" + node + ";_ssh._tcp;local;spark-" + node + ".local;";
    seen += "=;enp1s0f1np1" + host + "192.168.177." + node + ";22;\n";
    seen += "=;enP7s7" + host + "192.168.1.2" + node + ";22;\n";
  }
  EXPECT_THAT(ChooseHosts(ParseMdns(seen), "spark*", "enP7s7").chosen,
              ElementsAre(Host("spark-1", "192.168.1.21"), Host("spark-2", "192.168.1.22")));
}

TEST(FindHosts, WithoutANetworkTheSubnetOfMostMachinesIsTaken) {
  EXPECT_THAT(ChooseHosts(ParseKnownHosts("192.168.177.1,192.168.1.21,spark-1 ssh-rsa A\n"
                                          "192.168.1.22,spark-2 ssh-rsa B\n"),
                          "spark*")
                  .chosen,
              ElementsAre(Host("spark-1", "192.168.1.21"), Host("spark-2", "192.168.1.22")));
}

// By one rule for numbers and one for text, each of the three would come before another one.
TEST(FindHosts, TheOrderIsTheSameHoweverTheyWereFound) {
  for (const char* found : {"10.0.0.2 ssh-rsa A\n5x ssh-rsa B\n9.0.0.1 ssh-rsa C\n",
                            "9.0.0.1 ssh-rsa C\n10.0.0.2 ssh-rsa A\n5x ssh-rsa B\n",
                            "5x ssh-rsa B\n9.0.0.1 ssh-rsa C\n10.0.0.2 ssh-rsa A\n"}) {
    EXPECT_THAT(ChooseHosts(ParseKnownHosts(found), "*").chosen,
                ElementsAre(Host("", "9.0.0.1"), Host("", "10.0.0.2"), Host("5x", "5x")));
  }
}

TEST(FindHosts, ThePatternMayNameAddresses) {
  EXPECT_THAT(
      ChooseHosts(ParseKnownHosts("192.168.1.21 ssh-rsa A\n192.168.2.1 ssh-rsa B\n"), "192.168.1.*")
          .chosen,
      ElementsAre(Host("", "192.168.1.21")));
}

TEST(FindHosts, WhatNamesNoServerOfOurKindIsLeftOut) {
  const HostRecords found = ParseKnownHosts(
      "@revoked spark-1 ssh-ed25519 A\n"
      "@cert-authority *.lab ssh-ed25519 B\n"
      "*.lab ssh-ed25519 C\n"
      "[spark-3]:2222 ssh-ed25519 D\n"
      "fe80::1 ssh-ed25519 E\n"
      "spark-4\n"
      "|1|c2FsdA==|aGFzaA== ssh-ed25519 F\n");
  EXPECT_THAT(found.records, IsEmpty());
  EXPECT_EQ(found.hashed, 1u);
  EXPECT_THAT(ParseKnownHosts("[spark-3]:22 ssh-ed25519 D\n").records,
              ElementsAre(Field(&HostRecord::names, ElementsAre("spark-3"))));
}

TEST(FindHosts, TheTableShowsEveryAddressAndNoControlCharacter) {
  EXPECT_EQ(FormatHosts({{"spark-1a2b", "192.168.1.21", {"192.168.7.3", "169.254.8.1"}},
                         {"", "192.168.1.5", {}},
                         {"a\x1b", "192.168.1.6", {}}}),
            "  spark-1a2b  192.168.1.21  (also 192.168.7.3, 169.254.8.1)\n"
            "  -           192.168.1.5\n"
            "  a\\x1b       192.168.1.6\n");
}

constexpr std::string_view kRouteTitles =
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

std::string FindDefaultIn(std::string_view routes) {
  return ParseDefaultInterface(std::string(kRouteTitles) + std::string(routes));
}

TEST(DefaultInterface, IsThatOfTheFirstDefaultRoute) {
  EXPECT_EQ(FindDefaultIn("enp1s0f1np1\t00B1A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                          "enP7s7\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
                          "wlP9s9\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"),
            "enP7s7");
}

TEST(DefaultInterface, IsEmptyWithoutADefaultRoute) {
  EXPECT_EQ(FindDefaultIn(""), "");
  EXPECT_EQ(FindDefaultIn("enP7s7\t0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"), "");
  EXPECT_EQ(ParseDefaultInterface(""), "");
}

TEST(DefaultInterface, LinesOfAnotherFormAreLeftOut) {
  using namespace std::string_literals;
  for (const std::string& line :
       {"\n"s, "\t\t\t\n"s, "enP7s7\n"s, "enP7s7 00000000 0101A8C0\n"s, "enP7s7\t0000000\n"s,
        "enP7s7\t000000000\n"s, "enP7s7\t00000000\0\n"s, "\0\xff\x1b[2J\n"s}) {
    EXPECT_EQ(FindDefaultIn(line + "eth0\t00000000\n"), "eth0") << line;
  }
  EXPECT_EQ(FindDefaultIn("eth0\t00000000"), "eth0");  // cut off after the second field
}

}  // namespace
}  // namespace reconciler
