#include "reconciler/verify/links/static_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

// "what outcome symptom: measured/why" of what did not simply pass.
std::vector<std::string> Oddities(const Sample& sample) {
  std::vector<std::string> texts;
  for (const Check& check : CheckFacts(sample.cluster, sample.fabric, sample.facts)) {
    if (check.outcome == Outcome::kPass) continue;
    texts.push_back(fmt::format(
        "{}{} {} {}: {}", check.from, check.rail ? " " + FormatRailName(*check.rail) : "",
        check.what, ToString(check.outcome), check.why.empty() ? check.measured : check.why));
  }
  return texts;
}

// The codes of what fails or is a warning, in the order of Oddities.
std::vector<std::string> Codes(const Sample& sample) {
  std::vector<std::string> codes;
  for (const Check& check : CheckFacts(sample.cluster, sample.fabric, sample.facts)) {
    if (check.outcome == Outcome::kFail || check.outcome == Outcome::kWarn) {
      codes.emplace_back(ToString(check.symptom));
    }
  }
  return codes;
}

TEST(CheckFacts, AHealthyClusterPassesEverything) {
  const Sample sample = OnSwitch(2);
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  // Two nodes with two ports of six checks each, and a memlock.
  EXPECT_EQ(CheckFacts(sample.cluster, sample.fabric, sample.facts).size(), 26u);
}

TEST(CheckFacts, ExpectationsNameThePort) {
  const Sample sample = OnSwitch(2);
  const auto checks = CheckFacts(sample.cluster, sample.fabric, sample.facts);
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < 6; ++i) expected.push_back(checks[i].expected);
  EXPECT_THAT(expected, testing::ElementsAre(
                            "enp1s0f1np1 exists", "enp1s0f1np1 is up", "enp1s0f1np1 has carrier",
                            "192.168.177.1/24 on enp1s0f1np1", "mtu 9000 on enp1s0f1np1", ""));
  EXPECT_EQ(checks[5].measured, "200000 Mb/s");
}

TEST(CheckFacts, ACageBelowItsCablesRateFailsAndANicWithoutCagesDoesNot) {
  Sample sample = OnSwitch(2);
  sample.fabric.wires = {{{"spark-1", "p1"}, {"", "", true}, 200},
                         {{"spark-2", "p1"}, {"", "", true}, 200}};
  sample.Link(1, 0).speed_mbps = 100000;
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  sample.Link(1, 0).phys_port_name = "p1";
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-1 rail0 speed fail: 100000 Mb/s"));
  EXPECT_EQ(CheckFacts(sample.cluster, sample.fabric, sample.facts)[5].expected,
            "200000 Mb/s on enp1s0f1np1");
  sample.fabric.wires[0].gbps = 100;
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
}

// A switch of 100 Gb/s is in use and works: https://forums.developer.nvidia.com/t/373146.
TEST(CheckFacts, PortsOfASwitchThatIsNotDescribedMayAllHave100Gbps) {
  Sample sample = OnSwitch(3);
  for (const int node : {1, 2, 3}) {
    sample.fabric.wires.push_back(
        {{fmt::format("spark-{}", node), "p1"}, {.on_switch = true}, 200});
    for (const int rail : {0, 1}) {
      sample.Link(node, rail).speed_mbps = 100000;
      sample.Link(node, rail).phys_port_name = "p1";
    }
  }
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  const Check check = CheckFacts(sample.cluster, sample.fabric, sample.facts)[5];
  EXPECT_EQ(check.expected, "100000 Mb/s on enp1s0f1np1");
  EXPECT_THAT(check.evidence,
              testing::ElementsAre("the cage can have 200000 Mb/s; `switches` in the manifest says "
                                   "what the switch has"));
}

TEST(CheckFacts, APortOfASwitchThatIsNotDescribedIsAsFastAsTheFastest) {
  Sample sample = OnSwitch(3);
  for (const int node : {1, 2, 3}) {
    sample.fabric.wires.push_back(
        {{fmt::format("spark-{}", node), "p1"}, {.on_switch = true}, 200});
    sample.Link(node, 0).phys_port_name = "p1";
  }
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  sample.Link(2, 0).speed_mbps = 100000;
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-2 rail0 speed fail: 100000 Mb/s"));
  for (const int node : {1, 2, 3}) {
    for (const int rail : {0, 1}) sample.Link(node, rail).speed_mbps = 50000;
  }
  EXPECT_EQ(CheckFacts(sample.cluster, sample.fabric, sample.facts)[5].outcome, Outcome::kFail);
}

TEST(CheckFacts, APortThatIsNotTheProfilesFailsAndNamesBoth) {
  Sample sample = OnSwitch(2);
  sample.Link(1, 0).phys_port_name = "p0";
  EXPECT_THAT(Oddities(sample),
              testing::ElementsAre("spark-1 rail0 port fail: enp1s0f1np1 is p0, and p1 in profile "
                                   "dgx-spark"));
  EXPECT_THAT(Codes(sample), testing::ElementsAre("port-elsewhere"));
  sample.Link(1, 0).phys_port_name = "p1";
  auto& pci = sample.facts.nodes.at("spark-1").network.pci;
  pci["0000:01:00.0"] = "enp1s0f1np1";
  EXPECT_THAT(Oddities(sample),
              testing::ElementsAre("spark-1 rail0 port fail: enp1s0f1np1 is PCI function "
                                   "0000:01:00.0, and 0000:01:00.1 in profile dgx-spark"));
  pci.erase("0000:01:00.0");
  pci["0000:01:00.1"] = "enp1s0f1np1";
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
}

TEST(CheckFacts, FecOtherThanTheSwitchsFailsAndWithoutASwitchItIsOnlyReported) {
  Sample sample = OnSwitch(2);
  using Words = std::vector<std::string>;
  auto& fec = sample.facts.nodes.at("spark-1").network.ports["enp1s0f1np1"].fec;
  fec = Words{"Off"};
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  EXPECT_EQ(CheckFacts(sample.cluster, sample.fabric, sample.facts)[6].measured, "FEC Off");
  sample.cluster.switches = {{.name = "sw", .ports = {{"swp1", {"spark-1", "p1"}}}}};
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-1 rail0 fec fail: FEC Off"));
  EXPECT_THAT(Codes(sample), testing::ElementsAre("fec-wrong"));
  fec = Words{"RS"};
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  fec = Words{"None"};
  sample.Link(1, 0).carrier = false;
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-1 rail0 carrier fail: no carrier",
                                                     "spark-1 rail0 fec skipped: no carrier"));
}

// The words of ethtool and its drivers: "RS" also for RS(544,514) on mlx5, "LLRS", "None" where the
// driver cannot say it. https://www.kernel.org/doc/html/latest/networking/ethtool-netlink.html
TEST(CheckFacts, FecIsComparedByItsKindAndNotByItsWord) {
  const auto outcome = [](const std::vector<std::string>& words, Fec wanted) {
    Sample sample = OnSwitch(2);
    sample.facts.nodes.at("spark-1").network.ports["enp1s0f1np1"].fec = words;
    sample.cluster.switches = {
        {.name = "sw", .ports = {{"swp1", {"spark-1", "p1"}}}, .fec = wanted}};
    return CheckFacts(sample.cluster, sample.fabric, sample.facts)[6].outcome;
  };
  for (const char* word : {"RS", "rs", "RS528", "RS544", "RS(544,514)", "LLRS", "None", "Auto"}) {
    EXPECT_EQ(outcome({word}, Fec::kRs), Outcome::kPass) << word;
  }
  EXPECT_EQ(outcome({"Auto", "RS"}, Fec::kRs), Outcome::kPass);
  EXPECT_EQ(outcome({"BASER"}, Fec::kFc), Outcome::kPass);
  EXPECT_EQ(outcome({"OFF"}, Fec::kOff), Outcome::kPass);
  EXPECT_EQ(outcome({"Off"}, Fec::kRs), Outcome::kFail);
  EXPECT_EQ(outcome({"BaseR"}, Fec::kRs), Outcome::kFail);
  EXPECT_EQ(outcome({"Auto", "Off"}, Fec::kRs), Outcome::kFail);
  EXPECT_EQ(outcome({"LLRS"}, Fec::kFc), Outcome::kFail);
  EXPECT_EQ(outcome({"RS"}, Fec::kOff), Outcome::kFail);
}

TEST(CheckFacts, FecOfACableBesideTheSwitchIsNotTheSwitchs) {
  Sample sample = OnSwitch(2);
  sample.facts.nodes.at("spark-1").network.ports["enp1s0f1np1"].fec =
      std::vector<std::string>{"RS"};
  sample.cluster.switches = {
      {.name = "sw", .ports = {{"swp1", {"spark-1", "p0"}}}, .fec = Fec::kOff}};
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
}

TEST(CheckFacts, CountersSinceTheDriverWasLoadedAreOnlyReported) {
  Sample sample = OnSwitch(2);
  sample.facts.nodes.at("spark-1").network.ports["enp1s0f1np1"] = {.rx_crc_errors = 0,
                                                                   .link_down_events = 3};
  EXPECT_THAT(CheckFacts(sample.cluster, sample.fabric, sample.facts)[5].evidence,
              testing::ElementsAre("enp1s0f1np1: 0 rx_crc_errors_phy, 3 link_down_events_phy "
                                   "since the driver was loaded"));
}

Fact<int>& LanesOf(Sample& sample, int node, const std::string& netdev) {
  return sample.facts.nodes.at(fmt::format("spark-{}", node)).network.ports[netdev].lanes;
}

TEST(CheckFacts, PortsOfOneCableWithOtherLanesAreAWarning) {
  Sample sample = OnSwitch(2);
  sample.fabric.wires = {{{"spark-1", "p1"}, {"spark-2", "p1"}, 200}};
  for (const int node : {1, 2}) {
    for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) LanesOf(sample, node, netdev) = 4;
  }
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  LanesOf(sample, 2, "enP2p1s0f1np1") = 2;
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-2 rail1 lanes warn: 2 lanes"));
  EXPECT_THAT(Codes(sample), testing::ElementsAre("cable-lanes-differ"));
  const std::vector<Check> checks = CheckFacts(sample.cluster, sample.fabric, sample.facts);
  EXPECT_EQ(checks[6].measured + "; " + checks[6].expected,
            "4 lanes; 4 lanes on enp1s0f1np1, as "
            "its cable has");
  LanesOf(sample, 2, "enp1s0f1np1") = 2;  // of two numbers as frequent the larger is right
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-2 rail0 lanes warn: 2 lanes",
                                                     "spark-2 rail1 lanes warn: 2 lanes"));
  sample.Link(2, 0).carrier = sample.Link(2, 1).carrier = false;
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-2 rail0 carrier fail: no carrier",
                                                     "spark-2 rail0 lanes skipped: no carrier",
                                                     "spark-2 rail1 carrier fail: no carrier",
                                                     "spark-2 rail1 lanes skipped: no carrier"));
}

// ethtool shows 200 Gb/s as four lanes on a cable between Sparks, as in the output that
// https://github.com/NVIDIA/dgx-spark-playbooks prints, and as two on a CRS804.
TEST(CheckFacts, LanesOfOneCableAreNotThoseOfTheNext) {
  Sample sample = OnSwitch(3);
  for (const int node : {1, 2, 3}) {
    sample.fabric.wires.push_back(
        {{fmt::format("spark-{}", node), "p1"}, {.on_switch = true}, 200});
    for (const char* netdev : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
      LanesOf(sample, node, netdev) = node == 3 ? 4 : 2;
    }
  }
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  LanesOf(sample, 3, "enP2p1s0f1np1") = 2;
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-3 rail1 lanes warn: 2 lanes"));
}

TEST(CheckFacts, AMissingPortSkipsWhatItWouldHave) {
  Sample sample = OnSwitch(2);
  sample.facts.nodes.at("spark-2").links.erase("enP2p1s0f1np1");
  EXPECT_THAT(Oddities(sample),
              testing::ElementsAre("spark-2 rail1 port fail: no enP2p1s0f1np1",
                                   "spark-2 rail1 link skipped: there is no such port",
                                   "spark-2 rail1 carrier skipped: there is no such port",
                                   "spark-2 rail1 address skipped: there is no such port",
                                   "spark-2 rail1 mtu skipped: there is no such port",
                                   "spark-2 rail1 speed skipped: there is no such port"));
  EXPECT_THAT(Codes(sample), testing::ElementsAre("port-missing"));
}

TEST(CheckFacts, APortThatIsSetDownIsNotBlamedForItsCarrier) {
  Sample sample = OnSwitch(2);
  sample.Link(1, 0).admin_up = false;
  sample.Link(1, 0).carrier = false;
  sample.Link(1, 0).speed_mbps = -1;
  EXPECT_THAT(Oddities(sample),
              testing::ElementsAre("spark-1 rail0 link fail: set down",
                                   "spark-1 rail0 carrier skipped: the port is set down",
                                   "spark-1 rail0 speed skipped: the driver reports no speed"));
  EXPECT_THAT(Codes(sample), testing::ElementsAre("link-down"));
}

TEST(CheckFacts, EachWrongFactFailsAlone) {
  Sample sample = OnSwitch(2);
  sample.Link(1, 0).carrier = false;
  sample.Link(1, 1).mtu = 1500;
  sample.Link(2, 0).ipv4 = {*ParseIpv4Prefix("192.168.177.2/16"), *ParseIpv4Prefix("10.0.0.1/8")};
  sample.Link(2, 1).ipv4.clear();
  EXPECT_THAT(Oddities(sample),
              testing::ElementsAre("spark-1 rail0 carrier fail: no carrier",
                                   "spark-1 rail1 mtu fail: mtu 1500",
                                   "spark-2 rail0 address fail: 192.168.177.2/16, 10.0.0.1/8",
                                   "spark-2 rail1 address fail: no address"));
  EXPECT_THAT(Codes(sample), testing::ElementsAre("no-carrier", "mtu-wrong", "address-missing",
                                                  "address-missing"));
}

TEST(CheckFacts, AnAddressOnTheWrongPortIsPointedOut) {
  Sample sample = OnSwitch(2);
  std::swap(sample.Link(1, 0).ipv4, sample.Link(1, 1).ipv4);
  const auto checks = CheckFacts(sample.cluster, sample.fabric, sample.facts);
  ASSERT_EQ(checks[3].symptom, Symptom::kAddressMissing);
  EXPECT_THAT(checks[3].evidence,
              testing::ElementsAre("192.168.177.1/24 is on enP2p1s0f1np1 instead"));
}

TEST(CheckFacts, AnUnreachableNodeCouldNotBeMeasured) {
  Sample sample = OnSwitch(2);
  sample.Lose(2);
  const auto oddities = Oddities(sample);
  EXPECT_EQ(oddities.size(), 13u);
  for (const std::string& text : oddities) {
    EXPECT_THAT(text,
                testing::MatchesRegex("spark-2.*could-not-measure: spark-2 could not be reached"));
  }
}

struct MemlockCase {
  Observed<MemoryLimit> fact;
  std::string result;  // empty: passes
};

class Memlock : public testing::TestWithParam<MemlockCase> {};

TEST_P(Memlock, IsJudgedAgainst16MiB) {
  Sample sample = Nodes(1);
  Value kib;
  kib.data = std::int64_t{16384};
  sample.cluster.settings = Settings(kib, false);
  sample.facts.nodes.at("spark-1").memlock.session = GetParam().fact;
  const auto checks = CheckFacts(sample.cluster, sample.fabric, sample.facts);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].expected, "16384 KiB");
  const auto oddities = Oddities(sample);
  EXPECT_EQ(oddities.empty() ? "" : oddities.front(), GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Facts, Memlock,
    testing::Values(
        MemlockCase{MemoryLimit{MemoryLimit::kUnlimited}, ""},
        MemlockCase{MemoryLimit{16777216}, ""}, MemlockCase{MemoryLimit{16777217}, ""},
        MemlockCase{MemoryLimit{16777215}, "spark-1 memlock fail: 16777215 bytes"},
        MemlockCase{MemoryLimit{8388608}, "spark-1 memlock fail: 8192 KiB"},
        MemlockCase{Absent{},
                    "spark-1 memlock could-not-measure: the session's limit for locked "
                    "memory was not found"},
        MemlockCase{Unknown{"cat hung\n"}, "spark-1 memlock could-not-measure: cat hung\\x0a"},
        MemlockCase{Unsupported{"no limits"}, "spark-1 memlock could-not-measure: no limits"}));

TEST(CheckFacts, MemlockThatTheManifestLeavesOutIsNotQueried) {
  Sample sample = Nodes(1);
  sample.cluster.settings = {};
  EXPECT_THAT(CheckFacts(sample.cluster, sample.fabric, sample.facts), testing::IsEmpty());
}

TEST(CheckFacts, UnlimitedIsMoreThanAnyNumberBelowHalfOfASparksMemory) {
  Sample sample = Nodes(1);
  sample.facts.nodes.at("spark-1").memlock.session = MemoryLimit{68719476735};
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-1 memlock fail: 68719476735 bytes"));
  sample.facts.nodes.at("spark-1").memlock.session = MemoryLimit{68719476736};
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
}

TEST(CheckFacts, WhicheverLinkLocalAddressAPortHasIsFineAndNoneIsNot) {
  Sample sample = OnSwitch(2);
  MakeLinkLocal(sample, 1);
  EXPECT_THAT(Oddities(sample), testing::IsEmpty());
  const Check check = CheckFacts(sample.cluster, sample.fabric, sample.facts)[9];
  EXPECT_EQ(check.expected, "a link-local address on enP2p1s0f1np1");
  EXPECT_EQ(check.measured, "169.254.1.9/16");
  sample.Link(1, 1).ipv4 = {*ParseIpv4Prefix("192.168.178.1/24")};
  sample.Link(2, 1).ipv4 = {};
  EXPECT_THAT(Oddities(sample), testing::ElementsAre("spark-1 rail1 address fail: 192.168.178.1/24",
                                                     "spark-2 rail1 address fail: no address"));
  EXPECT_THAT(Codes(sample), testing::Each("address-missing"));
}

}  // namespace
}  // namespace reconciler
