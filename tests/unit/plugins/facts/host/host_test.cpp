#include "plugins/facts/host/host.h"

#include <gmock/gmock.h>

#include "plugins/facts/host/links.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// From a lab node, shortened by keys that no one reads.
constexpr const char* kIp = R"([
{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"operstate":"UNKNOWN",
 "address":"00:00:00:00:00:00","addr_info":[
  {"family":"inet","local":"127.0.0.1","prefixlen":8,"scope":"host"},
  {"family":"inet6","local":"::1","prefixlen":128,"scope":"host","noprefixroute":true}]},
{"ifindex":2,"link_index":5,"ifname":"enP7s7","flags":["BROADCAST","MULTICAST","UP","LOWER_UP"],
 "mtu":1500,"operstate":"UP","address":"02:53:50:00:01:01","link_netnsid":0,"addr_info":[
  {"family":"inet","local":"192.168.1.21","prefixlen":24,"broadcast":"192.168.1.255"},
  {"family":"inet6","local":"fe80::53:50ff:fe00:101","prefixlen":64,"scope":"link"}]},
{"ifindex":5,"ifname":"enp1s0f1np1","flags":["NO-CARRIER","BROADCAST","MULTICAST","UP"],
 "mtu":9000,"operstate":"DOWN","address":"02:53:50:00:01:04","addr_info":[
  {"family":"inet","local":"192.168.177.1","prefixlen":24},
  {"family":"inet","local":"10.9.9.9","prefixlen":32}]},
{"ifindex":6,"ifname":"enP2p1s0f1np1","flags":["BROADCAST","MULTICAST"],"mtu":1500,
 "operstate":"DOWN","address":"02:53:50:00:01:05","addr_info":[]}])";

constexpr const char* kManagers =
    "/run/systemd/netif/links/2:ADMIN_STATE=configured\n"
    "/run/systemd/netif/links/2:NETWORK_FILE=/run/systemd/network/10-netplan-enP7s7.network\n"
    "/run/systemd/netif/links/6:ADMIN_STATE=unmanaged\n"
    "/run/NetworkManager/devices/5:managed=true\n"
    "/run/NetworkManager/devices/6:managed=false\n";

ProbeReply Reply() {
  ProbeReply reply;
  reply.session_address = "192.168.1.21";
  reply.values["/proc/sys/kernel/hostname"] = "spark-1";
  reply.values["/etc/machine-id"] = "0123456789abcdef0123456789abcdef";
  reply.values["/proc/sys/kernel/random/boot_id"] = "d1f5a0a2-6b1c-4c53-9c4e-1f0c7f5b7a11";
  reply.values["/proc/sys/kernel/osrelease"] = "6.17.0-1014-nvidia";
  reply.values["/proc/sys/kernel/arch"] = "aarch64";
  reply.values["/sys/class/dmi/id/product_name"] = "NVIDIA_DGX_Spark ";
  reply.values["/sys/class/net/enP7s7/phys_port_name"] = Unknown{"Operation not supported"};
  reply.values["/sys/class/net/enP7s7/speed"] = "10000";
  reply.values["/sys/class/net/enp1s0f1np1/phys_port_name"] = "p1";
  reply.values["/sys/class/net/enp1s0f1np1/speed"] = "-1";
  reply.values["/sys/class/net/enP2p1s0f1np1/speed"] = Unknown{"Invalid argument"};
  reply.files["/usr/lib/os-release"] =
      FileState{.content = "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nID=ubuntu\n"};
  reply.commands["host.ip"] = {.out = kIp};
  reply.commands["common.lines"] = {.out = kManagers};
  return reply;
}

NodeFacts Facts(const ProbeReply& reply) {
  NodeFacts facts;
  Get().parse(reply, facts);
  return facts;
}

std::string ExplainNoLinks(CommandReply ip) {
  ProbeReply reply = Reply();
  reply.commands["host.ip"] = std::move(ip);
  const NodeFacts facts = Facts(reply);
  EXPECT_THAT(facts.links, IsEmpty());
  EXPECT_EQ(facts.session.interface, "");
  return FindUnknown(facts.network.links)->why;
}

TEST(Host, PortsReportTheirFunctionFecLanesAndErrors) {
  ProbeReply reply = Reply();
  reply.commands["host.ports"] = {.out =
                                      "pci 0000:01:00.1 enp1s0f1np1\n"
                                      "function 0000:01:00.1\n"
                                      "function 0002:01:00.1\n"
                                      "fec enp1s0f1np1 RS\n"
                                      "lanes enp1s0f1np1 4\n"
                                      "errors enp1s0f1np1 0 rx_crc_errors_phy\n"
                                      "errors enp1s0f1np1 3 link_down_events_phy\n"
                                      "nonsense\n"};
  const NodeFacts facts = Facts(reply);
  EXPECT_EQ(facts.network.pci.at("0000:01:00.1"), "enp1s0f1np1");
  EXPECT_EQ(facts.network.pci.at("0002:01:00.1"), "");
  EXPECT_EQ(facts.network.ports.at("enp1s0f1np1"), (PortFacts{.fec = std::vector<std::string>{"RS"},
                                                              .lanes = 4,
                                                              .rx_crc_errors = 0,
                                                              .link_down_events = 3}));
}

TEST(Host, LinksHaveTheDriversOfTheirDevices) {
  ProbeReply reply = Reply();
  reply.commands["host.ports"] = {.out =
                                      "driver enp1s0f1np1 mlx5_core\ndriver gone igb\ndriver lo\n"};
  const NodeFacts facts = Facts(reply);
  EXPECT_EQ(facts.links.at("enp1s0f1np1").driver, "mlx5_core");
  EXPECT_EQ(facts.links.at("lo").driver, "");
  EXPECT_FALSE(facts.links.contains("gone"));
}

// In switchdev mode, interfaces that stand for virtual functions have the port's PCI function.
TEST(Host, OfSeveralInterfacesOfAFunctionThePortCounts) {
  ProbeReply reply = Reply();
  reply.values["/sys/class/net/enp1s0f1np1/phys_port_name"] = "p1";
  for (const std::string out : {"pci 0000:01:00.1 enp1s0f1np1\npci 0000:01:00.1 lo\n",
                                "pci 0000:01:00.1 lo\npci 0000:01:00.1 enp1s0f1np1\n"}) {
    reply.commands["host.ports"] = {.out = out};
    EXPECT_EQ(Facts(reply).network.pci.at("0000:01:00.1"), "enp1s0f1np1") << out;
  }
}

TEST(Host, WhatEthtoolWritesForANumberAndIsNoneIsUnknownWithTheWord) {
  ProbeReply reply;
  reply.commands["host.ports"] = {
      .out = "lanes e1 Unknown!\nerrors e1 -1 rx_crc_errors_phy\nerrors e1\nfec e1  \nlanes\n"};
  const PortFacts port = Facts(reply).network.ports.at("e1");
  EXPECT_EQ(port.lanes, Observed<int>(Unknown{"ethtool wrote 'Unknown!' for a number"}));
  EXPECT_EQ(port.rx_crc_errors, Observed<std::int64_t>(Unknown{"ethtool wrote '-1' for a number"}));
  EXPECT_EQ(port.link_down_events, std::nullopt);
  EXPECT_EQ(port.fec, Observed<std::vector<std::string>>(Unknown{"ethtool names no FEC encoding"}));
}

TEST(Host, SystemFactsComeFromFiles) {
  const HostFact wanted{.hostname = "spark-1",
                        .machine_id = "0123456789abcdef0123456789abcdef",
                        .boot_id = "d1f5a0a2-6b1c-4c53-9c4e-1f0c7f5b7a11",
                        .kernel = "6.17.0-1014-nvidia",
                        .arch = "aarch64",
                        .os = "Ubuntu 24.04.3 LTS",
                        .product = "NVIDIA_DGX_Spark"};
  EXPECT_EQ(Facts(Reply()).host, Observed<HostFact>(wanted));
}

TEST(Host, MakerAndBiosAreRead) {
  ProbeReply reply = Reply();
  reply.values["/sys/class/dmi/id/sys_vendor"] = "ASUSTeK COMPUTER INC.";
  reply.values["/sys/class/dmi/id/bios_version"] = "GX10.0103 ";
  const HostFact host = *Known(Facts(reply).host);
  EXPECT_EQ(host.vendor, "ASUSTeK COMPUTER INC.");
  EXPECT_EQ(host.bios, "GX10.0103");
}

TEST(Host, AddressesOfDhcpAreLeases) {
  ProbeReply reply = Reply();
  reply.commands["host.ip"].out = R"([{"ifname":"enp1s0f1np1","addr_info":[
    {"family":"inet","local":"192.168.177.1","prefixlen":24},
    {"family":"inet","local":"192.168.1.77","prefixlen":24,"dynamic":true},
    {"family":"inet","local":"nonsense","prefixlen":24,"dynamic":true},
    {"family":"inet","local":"192.168.1.78","prefixlen":24,"dynamic":"true"},
    {"family":"inet6","local":"2001:db8::1","prefixlen":64,"dynamic":true}, 7]}])";
  EXPECT_THAT(Facts(reply).network.leases,
              ElementsAre(std::pair("enp1s0f1np1", std::vector<std::string>{"192.168.1.77"})));
}

TEST(Host, LostCarriersAndRpFilterAreReadByInterface) {
  ProbeReply reply = Reply();
  reply.values["/sys/class/net/enp1s0f1np1/carrier_down_count"] = "21";
  reply.values["/sys/class/net/odd/carrier_down_count"] = "-1";
  reply.values["/proc/sys/net/ipv4/conf/all/rp_filter"] = "2";
  reply.values["/proc/sys/net/ipv4/conf/enp1s0f1np1.5/rp_filter"] = "1";
  reply.values["/proc/sys/net/ipv4/conf/odd/rp_filter"] = "strict";
  reply.values["/proc/sys/net/ipv4/conf/*/rp_filter"] = "1";
  const NetworkFacts network = Facts(reply).network;
  EXPECT_THAT(network.carrier_downs, ElementsAre(std::pair("enp1s0f1np1", 21)));
  EXPECT_THAT(network.rp_filter, ElementsAre(std::pair("all", 2), std::pair("enp1s0f1np1.5", 1)));
}

TEST(Host, LinksHaveAddressesStateAndManager) {
  const NodeFacts facts = Facts(Reply());
  const LinkFact management{.mac = "02:53:50:00:01:01",
                            .mtu = 1500,
                            .admin_up = true,
                            .carrier = true,
                            .operstate = "UP",
                            .ipv4 = {*ParseIpv4Prefix("192.168.1.21/24")},
                            .ipv6 = {"fe80::53:50ff:fe00:101/64"},
                            .manager = LinkManager::kNetworkd,
                            .speed_mbps = 10000};
  const LinkFact unplugged{
      .mac = "02:53:50:00:01:04",
      .mtu = 9000,
      .admin_up = true,
      .carrier = false,
      .operstate = "DOWN",
      .ipv4 = {*ParseIpv4Prefix("192.168.177.1/24"), *ParseIpv4Prefix("10.9.9.9/32")},
      .manager = LinkManager::kNetworkManager,
      .phys_port_name = "p1"};
  const LinkFact down{.mac = "02:53:50:00:01:05", .mtu = 1500, .operstate = "DOWN"};
  EXPECT_EQ(facts.links.at("enP7s7"), management);
  EXPECT_EQ(facts.links.at("enp1s0f1np1"), unplugged);
  EXPECT_EQ(facts.links.at("enP2p1s0f1np1"), down);
  EXPECT_EQ(facts.links.size(), 4U);
  EXPECT_EQ(facts.network.links, Observed<int>(4));
}

// As `ip` shows a member of a bond whose own address is another one.
TEST(Host, ABondsMemberHasItsOwnHardwareAddressBesidesTheBonds) {
  ProbeReply reply = Reply();
  reply.commands["host.ip"].out = R"([
{"ifname":"enp1s0f1np1","address":"02:53:50:00:01:04","master":"bond0"},
{"ifname":"enP2p1s0f1np1","address":"02:53:50:00:01:04","permaddr":"02:53:50:00:01:05",
 "master":"bond0"}])";
  const NodeFacts facts = Facts(reply);
  EXPECT_EQ(facts.links.at("enp1s0f1np1").permanent_mac, "");
  EXPECT_EQ(facts.links.at("enP2p1s0f1np1").mac, "02:53:50:00:01:04");
  EXPECT_EQ(facts.links.at("enP2p1s0f1np1").permanent_mac, "02:53:50:00:01:05");
}

TEST(Host, SessionInterfaceIsTheOneThatHoldsTheSessionsAddress) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"192.168.1.21", "enP7s7"},
      {"::ffff:192.168.1.21", "enP7s7"},
      {"fe80::53:50ff:fe00:101%enP7s7", "enP7s7"},
      {"fe80::53:50ff:fe00:101%enp1s0f1np1", ""},
      {"192.168.1.2", ""},
      {"", ""}};
  for (const auto& [address, netdev] : cases) {
    ProbeReply reply = Reply();
    reply.session_address = address;
    EXPECT_EQ(Facts(reply).session.interface, netdev) << address;
    EXPECT_EQ(Facts(reply).session.address, address);
  }
}

TEST(Host, FailingIpMakesLinksUnknownWithItsReason) {
  EXPECT_EQ(ExplainNoLinks({.exit_code = 124}), "ip gave no answer in 5 s");
  EXPECT_EQ(ExplainNoLinks({.exit_code = 127, .err = "sh: 1: ip: not found"}),
            "ip is not installed");
  EXPECT_EQ(ExplainNoLinks({.exit_code = 1, .err = "Cannot open netlink socket\nmore"}),
            "ip failed: Cannot open netlink socket");
  EXPECT_EQ(ExplainNoLinks({.exit_code = 3}), "ip failed: exit 3");
  EXPECT_EQ(ExplainNoLinks({.out = "1: lo: <LOOPBACK,UP>"}),
            "ip printed something other than JSON");
  EXPECT_EQ(ExplainNoLinks({.out = "[{\"ifname\":\"\xff\"}]"}),
            "ip printed something other than JSON");
}

TEST(Host, LinksWereNotReadWithoutTheCommandsAnswer) {
  ProbeReply reply = Reply();
  reply.commands.clear();
  EXPECT_EQ(Facts(reply).network.links, Observed<int>(Unknown{"ip was not run"}));
}

TEST(Host, UnreadableHostnameMakesTheHostUnknown) {
  ProbeReply reply = Reply();
  reply.values["/proc/sys/kernel/hostname"] = Unknown{"Permission denied"};
  EXPECT_EQ(Facts(reply).host,
            Observed<HostFact>(Unknown{"/proc/sys/kernel/hostname: Permission denied"}));
  reply.values.clear();
  EXPECT_EQ(Facts(reply).host,
            Observed<HostFact>(Unknown{"/proc/sys/kernel/hostname: not answered"}));
}

TEST(Host, MissingFilesLeaveTheirFieldsEmpty) {
  ProbeReply reply = Reply();
  reply.values["/sys/class/dmi/id/product_name"] = Absent{};
  reply.values["/proc/sys/kernel/arch"] = Absent{};
  reply.files["/usr/lib/os-release"] = Absent{};
  const NodeFacts facts = Facts(reply);
  const auto* host = Known(facts.host);
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->product + host->arch + host->os, "");
}

TEST(Host, OsNameIsReadInTheQuotingOfTheShell) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"PRETTY_NAME='Debian GNU/Linux 12'", "Debian GNU/Linux 12"},
      {"PRETTY_NAME=Alpine\n", "Alpine"},
      {"PRETTY_NAME=\"a \\\"b\\\" \\$c\"\n", "a \"b\" $c"},
      {"PRETTY_NAME=\"", "\""},
      {"PRETTY_NAME=", ""},
      {"XPRETTY_NAME=no\n", ""}};
  for (const auto& [line, name] : cases) {
    ProbeReply reply = Reply();
    reply.files["/usr/lib/os-release"] = FileState{.content = line};
    EXPECT_EQ(std::get<HostFact>(Facts(reply).host).os, name) << line;
  }
}

TEST(Host, LinksNameTheirMasterAndWhatIsBelowThem) {
  const auto links = ParseIpAddr(R"([{"ifname":"a","master":"bond0"},
    {"ifname":"a.5","link":"a"}, {"ifname":"b","link_index":7,"link_netnsid":0}])");
  ASSERT_TRUE(links);
  EXPECT_EQ(links->at("a").fact, LinkFact{.master = "bond0"});
  EXPECT_EQ(links->at("a.5").fact, LinkFact{.below = "a"});
  EXPECT_EQ(links->at("b").fact, LinkFact{});
}

TEST(Host, KeysOfAnotherTypeKeepTheirDefaults) {
  const auto links = ParseIpAddr(R"([
    {"ifname":"a","ifindex":"2","mtu":-1,"flags":{"UP":1},"operstate":7,"address":null,
     "addr_info":[3,{"family":"inet","local":"1.2.3.4","prefixlen":99},{"family":"inet"},
                  {"family":"inet6"},{"local":"1.2.3.4","prefixlen":8}]},
    {"ifname":"b","mtu":99999999999999999999,"flags":[null,"UP"],"addr_info":{}},
    {"ifname":"c"}, {"ifname":5}, {}, [], null, "x"])");
  ASSERT_TRUE(links);
  EXPECT_EQ(links->size(), 3U);
  EXPECT_EQ(links->at("a").fact, LinkFact{});
  EXPECT_EQ(links->at("b").fact, LinkFact{.admin_up = true});
  EXPECT_EQ(links->at("c").fact, LinkFact{});
}

TEST(Host, TextThatIsNoListIsNoAnswer) {
  const std::string deep(100000, '[');
  for (const std::string text : {"", "{}", "null", "[{}", "[]]"}) {
    EXPECT_FALSE(ParseIpAddr(text)) << text;
  }
  EXPECT_FALSE(ParseIpAddr(deep));
  EXPECT_TRUE(ParseIpAddr("[]"));
}

TEST(Host, ManagersThatWereNotReadAreUnclear) {
  ProbeReply reply = Reply();
  EXPECT_EQ(Facts(reply).network.managers_unclear, "");
  reply.commands["common.lines"].exit_code = 2;  // one of the folders is not there
  EXPECT_EQ(Facts(reply).network.managers_unclear, "");
  reply.commands["common.lines"].exit_code = 124;
  EXPECT_EQ(Facts(reply).network.managers_unclear, "grep gave no answer in 5 s");
  reply.commands.erase("common.lines");
  EXPECT_EQ(Facts(reply).network.managers_unclear,
            "the state of networkd and NetworkManager was not read");
}

TEST(Host, NetworkdCountsBeforeNetworkManagersLeftovers) {
  const auto managers = ParseManagers(
      "/run/systemd/netif/links/2:NETWORK_FILE=/etc/systemd/network/x.network\n"
      "/run/systemd/netif/links/2:ADMIN_STATE=configuring\n"
      "/run/NetworkManager/devices/2:managed=true\n"
      "/run/systemd/netif/links/3:NETWORK_FILE=\n"
      "/run/systemd/netif/links/4:NETWORK_FILE=/x\n"
      "/run/systemd/netif/links/4:ADMIN_STATE=unmanaged\n"
      "/run/NetworkManager/devices/9:managed=true\n");
  EXPECT_THAT(managers, ElementsAre(std::pair(2, LinkManager::kNetworkd),
                                    std::pair(9, LinkManager::kNetworkManager)));
}

TEST(Host, StateLinesOfAnotherFormAreLeftOut) {
  EXPECT_THAT(ParseManagers("/run/NetworkManager/devices/x:managed=true\n"
                            "/run/NetworkManager/devices/:managed=true\n"
                            "/run/NetworkManager/devices/5\n"
                            "/run/NetworkManager/devices/99999999999999999999:managed=true\n"
                            "/run/NetworkManager/devices/5x:managed=true\n"
                            "managed=true\n"),
              IsEmpty());
}

}  // namespace
}  // namespace reconciler::plugins::host
