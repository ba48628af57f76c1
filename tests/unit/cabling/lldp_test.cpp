#include "reconciler/cabling/lldp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/cabling/cabled.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The forms of lldpd 1.0.16.
constexpr std::string_view kTwoNeighbours = R"({"lldp": {"interface": [
  {"enp1s0f1np1": {"via": "LLDP", "rid": "2", "age": "0 day, 00:00:04",
    "chassis": {"spark-2": {"id": {"type": "mac", "value": "02:53:50:00:02:01"},
      "descr": "Debian GNU/Linux 12", "mgmt-ip": ["192.168.1.22", "fe80::2"],
      "capability": [{"type": "Bridge", "enabled": false}]}},
    "port": {"id": {"type": "mac", "value": "02:53:50:00:02:04"}, "descr": "enp1s0f1np1", "ttl": "120"}}},
  {"enP2p1s0f1np1": {"via": "LLDP", "rid": "3",
    "chassis": {"crs812": {"id": {"type": "mac", "value": "18:fd:74:00:00:01"}}},
    "port": {"id": {"type": "ifname", "value": "qsfp56-dd-1-1"}}}}]}})";

constexpr std::string_view kOneNeighbourWithoutName = R"({"lldp": {"interface": {"enp1s0f1np1":
  {"via": "LLDP", "chassis": {"id": {"type": "mac", "value": "02:53:50:00:02:01"}},
   "port": {"id": {"type": "mac", "value": "02:53:50:00:02:04"}, "ttl": "120"}}}}})";

constexpr std::string_view kJson0 =
    R"({"lldp": [{"interface": [{"name": "enp1s0f1np1", "via": "LLDP",
  "chassis": [{"id": [{"type": "mac", "value": "02:53:50:00:02:01"}], "name": [{"value": "spark-2"}]}],
  "port": [{"id": [{"type": "mac", "value": "02:53:50:00:02:04"}], "descr": [{"value": "enp1s0f1np1"}]}]}]}]})";

TEST(LldpTest, SeveralNeighboursAreAList) {
  EXPECT_THAT(
      ParseLldp(kTwoNeighbours),
      ElementsAre(LldpNeighbour{"enp1s0f1np1", "spark-2", "02:53:50:00:02:01", "02:53:50:00:02:04",
                                "enp1s0f1np1"},
                  LldpNeighbour{"enP2p1s0f1np1", "crs812", "18:fd:74:00:00:01", "qsfp56-dd-1-1"}));
}

TEST(LldpTest, OneNeighbourIsAnObjectAndMayHaveNoName) {
  EXPECT_THAT(
      ParseLldp(kOneNeighbourWithoutName),
      ElementsAre(LldpNeighbour{"enp1s0f1np1", "", "02:53:50:00:02:01", "02:53:50:00:02:04"}));
}

TEST(LldpTest, TheFormWithListsEverywhereSaysTheSame) {
  EXPECT_THAT(ParseLldp(kJson0),
              ElementsAre(LldpNeighbour{"enp1s0f1np1", "spark-2", "02:53:50:00:02:01",
                                        "02:53:50:00:02:04", "enp1s0f1np1"}));
}

TEST(LldpTest, WhatIsNoNeighbourIsLeftOut) {
  for (const char* text : {"", "lldpd is not running", "[]", "null", R"({"lldp": {}})",
                           R"({"lldp": {"interface": [1, "x", {"eth0": 3}, {"eth1": {}}]}})",
                           R"({"lldp": {"interface": {"eth0": {"chassis": [], "port": [[]]}}}})"}) {
    EXPECT_THAT(ParseLldp(text), IsEmpty()) << text;
  }
}

TEST(LldpTest, ATextOfAnyDepthIsReadSafely) {
  const std::string deep(1000000, '[');
  const std::string text = R"({"lldp": {"interface": {"eth0": {"chassis": {"id": {"value": )" +
                           deep + std::string(deep.size(), ']') +
                           R"(}}, "port": {"id": {"value": "7"}}}}}})";
  EXPECT_THAT(ParseLldp(text), ElementsAre(LldpNeighbour{"eth0", "", "", "7"}));
  EXPECT_THAT(ParseLldp(deep), IsEmpty());
}

// A pair with a link and without IPv6, where only lldpd speaks.
test::Cabled SilentPair() {
  test::Cabled pair = test::Pair();
  for (int node : {1, 2}) {
    for (PortView* port : pair.Ports(node, "p1")) port->state = PortState::kLink;
  }
  return pair;
}

TEST(LldpTest, ItProvesWhereNoOneAnswers) {
  test::Cabled pair = SilentPair();
  pair.views["spark-1"].lldp = ParseLldp(kJson0);
  EXPECT_THAT(pair.Cables(), ElementsAre("confirmed spark-1 right – spark-2 right: found from "
                                         "spark-1's right cage by LLDP"));
}

TEST(LldpTest, ANeighbourIsKnownByNameAndInterfaceToo) {
  test::Cabled pair = SilentPair();
  pair.views["spark-1"].lldp = {
      {"enp1s0f1np1", "Spark-2.local", "02:00:00:00:00:01", "enp1s0f0np0", ""}};
  EXPECT_THAT(pair.Wrong(), ElementsAre("the cable between spark-2 and spark-1 is in spark-2's "
                                        "left cage and belongs in its right cage"));
}

TEST(LldpTest, AnAnswerCountsBeforeWhatLldpRemembers) {
  test::Cabled pair = SilentPair();
  pair.Plug(1, "p1", 2, "p1");
  pair.views["spark-1"].lldp = {{"enp1s0f1np1", "crs812", "18:fd:74:00:00:01", "qsfp56-1", ""}};
  EXPECT_THAT(pair.Cables(),
              ElementsAre("confirmed spark-1 right – spark-2 right: found from both ends"));
}

TEST(LldpTest, ASwitchAtTheEndOfADirectCableIsWrong) {
  test::Cabled pair = SilentPair();
  pair.views["spark-1"].lldp = {{"enp1s0f1np1", "crs\n812", "18:fd:74:00:00:01", "qsfp56-1", ""}};
  EXPECT_THAT(pair.Wrong(),
              ElementsAre("the cable that should join spark-1's right cage and spark-2's right "
                          "cage joins spark-1's right cage and crs\\x0a812 (its port qsfp56-1)"));
}

TEST(LldpTest, OneOfOursThroughAnUnknownPortProvesNothing) {
  test::Cabled pair = SilentPair();
  pair.views["spark-1"].lldp = {{"enp1s0f1np1", "spark-2", "02:00:00:00:00:01", "bond0", ""}};
  EXPECT_THAT(pair.Wrong(), IsEmpty());
  pair.views["spark-1"].lldp = {{"enp1s0f1np1", "box", "02:53:50:00:02:00", "bond0", ""}};
  EXPECT_THAT(pair.Wrong(), IsEmpty());
}

TEST(LldpTest, WhoReportsNoNameMayBeTheHcasFirmware) {
  test::Cabled pair = SilentPair();
  pair.views["spark-1"].lldp = {{"enp1s0f1np1", "", "02:00:00:00:00:01", "02:00:00:00:00:01", ""}};
  EXPECT_THAT(pair.Wrong(), IsEmpty());
}

}  // namespace
}  // namespace reconciler
