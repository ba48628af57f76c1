#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

struct PingCase {
  std::string name;
  Sample (*sample)();
  Symptom symptom;
  std::vector<std::string> pings;
  std::vector<std::string> brief;
  std::string cause;  // of the first finding
};

Sample Two() { return OnSwitch(2); }
Sample Four() { return OnSwitch(4); }

class Pings : public testing::TestWithParam<PingCase> {};

TEST_P(Pings, AreOneFindingPerCause) {
  const Sample sample = GetParam().sample();
  auto checks = PassedChecks(sample);
  for (const std::string& rule : GetParam().pings) {
    Break(checks, VerifyLevel::kPing, rule, GetParam().symptom);
  }
  const auto findings = ListFindings(sample, checks);
  EXPECT_EQ(Brief(findings), GetParam().brief);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, GetParam().cause);
  EXPECT_EQ(findings[0].outcome, Outcome::kFail);
}

INSTANTIATE_TEST_SUITE_P(
    Silence, Pings,
    testing::Values(
        PingCase{
            "BothRailsToOneNode",
            Four,
            Symptom::kNothingBack,
            {"3>0@*", "0>3@*"},
            {"node-cut-off spark-3 rail0 rail1 x12"},
            "spark-3 hears no peer on rail0, rail1 while the others hear each other: its cable, "
            "its switch port or VLAN, or a firewall on it"},
        PingCase{"OneRailOfOneNode",
                 Four,
                 Symptom::kNothingBack,
                 {"3>0@1", "0>3@1"},
                 {"node-cut-off spark-3 rail1 x6"},
                 "spark-3 hears no peer on rail1 while the others hear each other: its cable, its "
                 "switch port or VLAN, or a firewall on it"},
        PingCase{"OneRailForAll",
                 Four,
                 Symptom::kNothingBack,
                 {"0>0@1"},
                 {"rail-dead spark-1 spark-2 spark-3 spark-4 rail1 x12"},
                 "no node hears another on rail1, though every port is up with its address: the "
                 "switch does not forward between their ports (VLAN, isolation)"},
        PingCase{"OneRailOfACable",
                 Two,
                 Symptom::kNothingBack,
                 {"0>0@0"},
                 {"no-path spark-1 spark-2 rail0 x2"},
                 "spark-1 and spark-2 both have carrier and address on rail0, and nothing passes: "
                 "the cable joins other ports than in the manifest, or one of them drops it"},
        PingCase{
            "OnePairOnASwitch",
            Four,
            Symptom::kNothingBack,
            {"1>2@*", "2>1@*"},
            {"no-path spark-1 spark-2 rail0 rail1 x4"},
            "spark-1 and spark-2 reach other nodes on rail0, rail1 but not each other: the way "
            "between their switch ports, or a firewall rule for one peer"},
        PingCase{"OneNodeOfARing",
                 Ring,
                 Symptom::kNothingBack,
                 {"3>0@*", "0>3@*"},
                 {"node-cut-off spark-3 rail2 rail3 rail4 rail5 x8"},
                 "spark-3 hears no peer on rail2, rail3, rail4, rail5 while the others hear each "
                 "other: its cable, its switch port or VLAN, or a firewall on it"},
        PingCase{
            "OneCableOfARing",
            Ring,
            Symptom::kNothingBack,
            {"1>2@*", "2>1@*"},
            {"no-path spark-1 spark-2 rail0 rail1 x4"},
            "spark-1 and spark-2 both have carrier and address on rail0, rail1, and nothing "
            "passes: the cable joins other ports than in the manifest, or one of them drops it"},
        PingCase{
            "OneWay",
            Two,
            Symptom::kNothingBack,
            {"1>2@0"},
            {"one-way spark-1 spark-2 rail0 x1"},
            "pings from spark-1 to spark-2 fail while those from spark-2 to spark-1 come back, "
            "and an echo travels both ways: spark-2 does not answer spark-1, or spark-1 drops "
            "the answers"},
        PingCase{"DeafNode",
                 Four,
                 Symptom::kNothingBack,
                 {"0>2@*"},
                 {"one-way spark-2 rail0 rail1 x6"},
                 "pings to spark-2 fail while its own come back, and an echo travels both ways: "
                 "spark-2 itself does not answer what comes in"},
        PingCase{
            "MuteNode",
            Four,
            Symptom::kNothingBack,
            {"2>0@0"},
            {"one-way spark-2 rail0 x3"},
            "pings from spark-2 fail while those to it come back, and an echo travels both ways: "
            "spark-2 does not send them out, or drops the answers"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Jumbo, Pings,
    testing::Values(
        PingCase{"SwitchOfOneRail",
                 Four,
                 Symptom::kJumboLost,
                 {"0>0@0"},
                 {"path-mtu spark-1 spark-2 spark-3 spark-4 rail0 x12"},
                 "every port on rail0 has the right MTU, so the switch's is too small"},
        PingCase{"OneSwitchPort",
                 Four,
                 Symptom::kJumboLost,
                 {"4>0@0", "0>4@0"},
                 {"path-mtu spark-4 rail0 x6"},
                 "both ends have the right MTU, and only packets to and from spark-4 are lost on "
                 "rail0: the MTU of its switch port is too small"},
        PingCase{
            "Cable",
            Two,
            Symptom::kJumboLost,
            {"0>0@1"},
            {"path-mtu spark-1 spark-2 rail1 x2"},
            "spark-1 and spark-2 both have the right MTU on rail1: something between them has a "
            "smaller one (a switch on what should be a cable), or a driver limit"},
        PingCase{"BetweenSwitches",
                 Four,
                 Symptom::kJumboLost,
                 {"1>2@0", "2>1@0"},
                 {"path-mtu spark-1 spark-2 rail0 x2"},
                 "both ends have the right MTU, so a link between the switch ports of spark-1 and "
                 "spark-2 has a smaller one on rail0"},
        PingCase{
            "Sender",
            Two,
            Symptom::kTooLongForSender,
            {"1>2@0"},
            {"sender-mtu spark-1 rail0 x1"},
            "the kernel of spark-1 refuses the size although its port had the right MTU: the MTU "
            "has changed since, or a route has a smaller one"},
        PingCase{"Loss",
                 Four,
                 Symptom::kSomeLost,
                 {"3>0@0", "0>3@0"},
                 {"packet-loss spark-3 rail0 x6"},
                 "packets get lost on rail0 although nothing else loads it: a bad cable or "
                 "transceiver, a dirty contact, or a switch port that drops"}),
    [](const auto& test) { return test.param.name; });

TEST(PingFindings, PathMtuShowsTheMtuOfBothEnds) {
  const Sample sample = OnSwitch(2);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kPing, "0>0@0", Symptom::kJumboLost,
        "2 packets transmitted, 0 received");
  EXPECT_THAT(ListFindings(sample, checks).at(0).evidence,
              testing::ElementsAre("spark-1 to spark-2 on rail0: 2 packets transmitted, 0 received",
                                   "spark-2 to spark-1 on rail0: 2 packets transmitted, 0 received",
                                   "spark-1: enp1s0f1np1 has mtu 9000",
                                   "spark-2: enp1s0f1np1 has mtu 9000"));
}

TEST(PingFindings, LostJumboToASenderThatRefusesTheSizeIsTheSameCause) {
  const Sample sample = OnSwitch(2);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kPing, "1>2@0", Symptom::kTooLongForSender);
  Break(checks, VerifyLevel::kPing, "2>1@0", Symptom::kJumboLost);
  EXPECT_THAT(Brief(ListFindings(sample, checks)),
              testing::ElementsAre("sender-mtu spark-1 rail0 x2"));
}

TEST(PingFindings, APingThatCouldNotRunIsNotAFailure) {
  const Sample sample = OnSwitch(2);
  auto checks = PassedChecks(sample);
  for (Check& check : checks) {
    if (check.level != VerifyLevel::kPing || check.from != "spark-1") continue;
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kProgramMissing;
    check.why = "ping is not installed";
  }
  const auto findings = ListFindings(sample, checks);
  EXPECT_THAT(Brief(findings), testing::ElementsAre("program-missing spark-1 rail0 rail1 x2"));
  EXPECT_EQ(findings[0].outcome, Outcome::kCouldNotMeasure);
  EXPECT_EQ(findings[0].cause, "ping is not installed");
}

}  // namespace
}  // namespace reconciler
