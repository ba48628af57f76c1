#include "reconciler/verify/diagnosis/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;

TEST(Diagnose, AHealthyClusterHasNoFinding) {
  for (const Sample& sample : {OnSwitch(2), OnSwitch(8), Ring()}) {
    EXPECT_THAT(ListFindings(sample, PassedChecks(sample)), testing::IsEmpty());
  }
}

struct FactCase {
  std::string name;
  Sample (*sample)();
  std::vector<std::string> jumbo_lost;  // pings that fail because of it
  std::vector<std::string> nothing_back;
  std::vector<std::string> brief;
};

Sample MtuOnOnePort() {
  Sample sample = OnSwitch(4);
  sample.Link(2, 0).mtu = 1500;
  return sample;
}
Sample MtuTooLarge() {
  Sample sample = OnSwitch(2);
  sample.Link(2, 0).mtu = 9216;
  return sample;
}
Sample MtuOnBothTwins() {
  Sample sample = OnSwitch(2);
  sample.Link(2, 0).mtu = sample.Link(2, 1).mtu = 1500;
  return sample;
}
Sample NoCarrierAtOneNode() {
  Sample sample = OnSwitch(3);
  sample.Link(3, 0).carrier = sample.Link(3, 1).carrier = false;
  return sample;
}
Sample CableOut() {
  Sample sample = OnSwitch(2);
  for (const int node : {1, 2}) {
    for (const int rail : {0, 1}) sample.Link(node, rail).carrier = false;
  }
  return sample;
}
Sample MakeOneEndDown() {
  Sample sample = OnSwitch(2);
  sample.Link(1, 0).admin_up = sample.Link(1, 0).carrier = false;
  sample.Link(2, 0).carrier = false;
  return sample;
}
Sample SwitchOff() {
  Sample sample = OnSwitch(3);
  for (const int node : {1, 2, 3}) {
    for (const int rail : {0, 1}) sample.Link(node, rail).carrier = false;
  }
  return sample;
}
// As networkd leaves a cable that is out: a port without carrier has no address.
Sample CableOutWithNetworkd() {
  Sample sample = CableOut();
  for (const int node : {1, 2}) {
    for (const int rail : {0, 1}) sample.Link(node, rail).ipv4.clear();
  }
  return sample;
}
Sample DownAtOneEndWithNetworkd() {
  Sample sample = MakeOneEndDown();
  for (const int node : {1, 2}) sample.Link(node, 0).ipv4.clear();
  return sample;
}
Sample CableOutAndAddressElsewhere() {
  Sample sample = CableOut();
  sample.Link(1, 1).ipv4.push_back(sample.Link(1, 0).ipv4.front());
  sample.Link(1, 0).ipv4.clear();
  sample.Link(2, 0).ipv4 = {*ParseIpv4Prefix("10.0.0.1/24")};
  return sample;
}
Sample AddressGone() {
  Sample sample = OnSwitch(3);
  sample.Link(1, 1).ipv4.clear();
  return sample;
}
Sample PortGone() {
  Sample sample = OnSwitch(2);
  sample.facts.nodes.at("spark-2").links.erase("enP2p1s0f1np1");
  return sample;
}
Sample MtuAndSilence() {
  Sample sample = OnSwitch(2);
  sample.Link(2, 0).mtu = 1500;
  return sample;
}

class Facts : public testing::TestWithParam<FactCase> {};

TEST_P(Facts, ExplainThePingsThatTheyBreak) {
  const Sample sample = GetParam().sample();
  auto checks = PassedChecks(sample);
  for (const auto& rule : GetParam().jumbo_lost) {
    Break(checks, VerifyLevel::kPing, rule, Symptom::kJumboLost);
  }
  for (const auto& rule : GetParam().nothing_back) {
    Break(checks, VerifyLevel::kPing, rule, Symptom::kNothingBack);
  }
  EXPECT_EQ(Brief(ListFindings(sample, checks)), GetParam().brief);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Facts,
    testing::Values(
        // One port's MTU and its six pings are one finding of seven checks.
        FactCase{
            "MtuOnOnePort", MtuOnOnePort, {"2>0@0", "0>2@0"}, {}, {"mtu-wrong spark-2 rail0 x7"}},
        FactCase{
            "MtuOnBothTwins", MtuOnBothTwins, {"0>0@*"}, {}, {"mtu-wrong spark-2 rail0 rail1 x6"}},
        FactCase{"MtuTooLargeExplainsNoLoss",
                 MtuTooLarge,
                 {"0>0@0"},
                 {},
                 {"mtu-wrong spark-2 rail0 x1", "path-mtu spark-1 spark-2 rail0 x2"}},
        FactCase{"MtuDoesNotExplainSilence",
                 MtuAndSilence,
                 {},
                 {"0>0@0"},
                 {"mtu-wrong spark-2 rail0 x1", "no-path spark-1 spark-2 rail0 x2"}},
        FactCase{"NoCarrierAtOneNode",
                 NoCarrierAtOneNode,
                 {},
                 {"3>0@*", "0>3@*"},
                 {"no-carrier spark-3 rail0 rail1 x10"}},
        FactCase{
            "CableOut", CableOut, {}, {"0>0@*"}, {"no-carrier spark-1 spark-2 rail0 rail1 x8"}},
        FactCase{"NoCarrierExplainsTheAddressThatNetworkdTookAway",
                 CableOutWithNetworkd,
                 {},
                 {"0>0@*"},
                 {"no-carrier spark-1 spark-2 rail0 rail1 x12"}},
        FactCase{"AFaultAtTheOtherEndExplainsThatAddressToo",
                 DownAtOneEndWithNetworkd,
                 {},
                 {"0>0@0"},
                 {"link-down spark-1 rail0 x6"}},
        FactCase{"NoCarrierExplainsNoWrongAddress",
                 CableOutAndAddressElsewhere,
                 {},
                 {"0>0@*"},
                 {"no-carrier spark-1 spark-2 rail0 rail1 x8", "address-missing spark-1 rail0 x1",
                  "address-missing spark-2 rail0 x1"}},
        FactCase{
            "DownAtOneEndOfACable", MakeOneEndDown, {}, {"0>0@0"}, {"link-down spark-1 rail0 x4"}},
        FactCase{"SwitchOff",
                 SwitchOff,
                 {},
                 {"0>0@*"},
                 {"no-carrier spark-1 spark-2 spark-3 rail0 rail1 x18"}},
        FactCase{"AddressGone",
                 AddressGone,
                 {},
                 {"1>0@1", "0>1@1"},
                 {"address-missing spark-1 rail1 x5"}},
        FactCase{"PortGone", PortGone, {}, {"0>0@1"}, {"port-missing spark-2 rail1 x3"}}),
    [](const auto& test) { return test.param.name; });

TEST(Diagnose, ASlowPortIsAFindingOfItsOwnThatExplainsNoPing) {
  Sample sample = OnSwitch(2);
  sample.fabric.wires = {{{"spark-2", "p1"}, {"", "", true}, 200}};
  sample.Link(2, 0).speed_mbps = 50000;
  sample.Link(2, 0).phys_port_name = "p1";
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kPing, "0>0@0", Symptom::kNothingBack);
  const auto findings = ListFindings(sample, checks);
  ASSERT_EQ(Brief(findings), (std::vector<std::string>{"speed-low spark-2 rail0 x1",
                                                       "no-path spark-1 spark-2 rail0 x2"}));
  EXPECT_EQ(findings[0].cause,
            "the port runs slower than its cable can: the other end's rate or FEC is set or "
            "negotiated otherwise, or the cable is made for less");
  EXPECT_EQ(findings[0].next_step,
            "compare `ethtool` on spark-2 with the port at the other end; `spark-reconcile graph` "
            "says what a switch must have");
}

TEST(Diagnose, AWrongMtuSaysWhatWasFoundAndWhatToDo) {
  const Sample sample = MtuOnOnePort();
  const auto findings = ListFindings(sample, PassedChecks(sample));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].expected, "mtu 9000 on enp1s0f1np1");
  EXPECT_EQ(findings[0].measured, "mtu 1500");
  EXPECT_EQ(findings[0].cause, "the port's MTU is not the fabric's");
  EXPECT_EQ(findings[0].next_step, "run `spark-reconcile plan`: apply sets the MTU of spark-2");
}

TEST(Diagnose, CarrierNamesTheCableTheNodeOrTheSwitch) {
  EXPECT_EQ(ListFindings(CableOut(), PassedChecks(CableOut()))[0].cause,
            "neither end sees a signal: the cable is out or broken");
  EXPECT_EQ(ListFindings(NoCarrierAtOneNode(), PassedChecks(NoCarrierAtOneNode()))[0].cause,
            "no signal at spark-3: its cable, or the port at the other end is off");
  EXPECT_EQ(ListFindings(SwitchOff(), PassedChecks(SwitchOff()))[0].cause,
            "no node on the rail sees a signal: the switch is off");
}

TEST(Diagnose, EqualMemlocksAreOneFinding) {
  Sample sample = OnSwitch(3);
  for (const char* node : {"spark-1", "spark-3"}) {
    sample.facts.nodes.at(node).memlock.session = MemoryLimit{8388608};
  }
  sample.facts.nodes.at("spark-2").memlock.session = Unknown{"cat hung"};
  const auto findings = ListFindings(sample, PassedChecks(sample));
  EXPECT_THAT(Brief(findings),
              ElementsAre("fact-unknown spark-2 x1", "memlock-low spark-1 spark-3 x2"));
  EXPECT_EQ(findings[0].outcome, Outcome::kCouldNotMeasure);
  EXPECT_EQ(findings[0].cause, "cat hung");
  EXPECT_EQ(findings[1].outcome, Outcome::kFail);
}

// spark-2 cannot be reached; what its peers' pings to it show is in the checks.
std::vector<Finding> WithoutSpark2(bool peers_hear_it) {
  Sample sample = OnSwitch(3);
  sample.Lose(2);
  auto checks = PassedChecks(sample);
  for (Check& check : checks) {
    if (check.to != "spark-2" || check.outcome != Outcome::kPass) continue;
    if (peers_hear_it && check.level == VerifyLevel::kPing) continue;
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kNodeUnreachable;
    check.measured = "nothing comes back, small packets neither";
  }
  return ListFindings(sample, checks);
}

TEST(Diagnose, AnUnreachableNodeIsOneFindingForAllItsChecks) {
  const auto findings = WithoutSpark2(false);
  // 13 facts, 4 pings and 4 logins of its own, 4 pings and 4 logins to it.
  EXPECT_THAT(Brief(findings), ElementsAre("node-unreachable spark-2 x29"));
  EXPECT_EQ(findings[0].measured, "no connection within 10 s");
  EXPECT_EQ(findings[0].cause, "its peers hear nothing from spark-2 either: off, booting or hung");
}

TEST(Diagnose, AnUnreachableNodeThatItsPeersHearHasAManagementFault) {
  const auto findings = WithoutSpark2(true);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cause,
            "spark-2 runs and answers its peers: the management path, its sshd or our access is at "
            "fault");
  EXPECT_EQ(findings[0].evidence.front(), "spark-1 gets its pings on rail0 back");
}

TEST(Diagnose, EveryFailureIsExplainedByExactlyOneFinding) {
  const Sample samples[] = {OnSwitch(2), OnSwitch(4), Ring(), MtuOnOnePort(), SwitchOff()};
  std::mt19937 random(7);  // any seed: the law holds for all
  for (int round = 0; round < 200; ++round) {
    const Sample& sample = samples[round % 5];
    auto checks = PassedChecks(sample);
    for (Check& check : checks) {
      if (check.to.empty() || random() % 3 != 0) continue;
      const int first = static_cast<int>(check.level == VerifyLevel::kPing ? Symptom::kNothingBack
                                                                           : Symptom::kSshDenied);
      const int last = static_cast<int>(check.level == VerifyLevel::kPing ? Symptom::kSomeLost
                                                                          : Symptom::kSshFailed);
      check.symptom = static_cast<Symptom>(
          first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1)));
      if (random() % 5 == 0) check.symptom = Symptom::kProbeFailed;
      if (random() % 5 == 0) check.symptom = Symptom::kNoAnswer;
      const bool unmeasured =
          check.symptom == Symptom::kProbeFailed || check.symptom == Symptom::kNoAnswer;
      check.outcome = unmeasured ? Outcome::kCouldNotMeasure : Outcome::kFail;
    }
    std::size_t wanted = 0;
    for (const Check& check : checks) {
      wanted += check.outcome == Outcome::kFail || check.outcome == Outcome::kCouldNotMeasure;
    }
    std::size_t explained = 0;
    for (const Finding& finding : ListFindings(sample, checks)) {
      EXPECT_GT(finding.explains, 0u);
      EXPECT_FALSE(finding.cause.empty() && finding.code != "probe-failed" &&
                   finding.code != "no-answer")
          << finding.code;
      EXPECT_FALSE(finding.next_step.empty()) << finding.code;
      explained += finding.explains;
    }
    ASSERT_EQ(explained, wanted) << "round " << round;
  }
}

struct AccessCase {
  std::string why;
  std::string cause;
  std::string next;
};

TEST(Diagnose, ANodeThatCouldNotBeReadIsNotOffWhenTheTransportKnowsWhy) {
  const AccessCase cases[] = {
      {"spark-2: sudo wants a password for user 'nvidia'",
       "spark-2 lets us in, but sudo wants a password there",
       "allow sudo without a password on spark-2, or log in as root with `become: none` in "
       "`access`"},
      {"spark-2: sudo refused the password for user 'nvidia'",
       "spark-2 lets us in, but its sudo refused the password",
       "type it with care; one password is used on all nodes, spark-2 among them"},
      {"spark-2: sudo wants a terminal for user 'nvidia'",
       "spark-2 lets us in, but sudo wants a terminal there",
       "remove 'Defaults requiretty' from the sudoers of spark-2"},
      {"spark-2: sudo is not allowed for user 'nvidia'",
       "spark-2 lets us in, but the user may not use sudo there",
       "allow sudo without a password on spark-2, or log in as root with `become: none` in "
       "`access`"},
      {"spark-2: no sudo is installed for user 'nvidia'", "spark-2 lets us in, but has no sudo",
       "install sudo on spark-2, or log in as root with `become: none` in `access`"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: refused: /home/me/.ssh/id_ed25519",
       "the login was refused by spark-2",
       "put the public key on spark-2 (ssh-copy-id), and check `user` in `access` of the manifest"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: /k is encrypted and no agent has it",
       "the key for spark-2 is encrypted here and no agent has it",
       "load the key for spark-2 into the agent with ssh-add"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: /k is a security key and no agent has it",
       "the key for spark-2 can only be used through an agent, and none has it",
       "load the key for spark-2 into the agent with ssh-add"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: the agent did not sign within 10 s",
       "spark-2 accepts a key of the agent, but the agent did not sign in time",
       "touch the key or confirm its use when a command logs in to spark-2"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: the agent did not answer within 10 s",
       "the agent here did not answer in time for the login to spark-2",
       "touch the key or confirm its use when a command logs in to spark-2"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: the agent refused to sign with a key that is "
       "accepted there",
       "spark-2 accepts a key of the agent, but the agent refused to sign",
       "unlock the agent, or allow it to sign for spark-2 without a confirmation"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: there is no key to try (no agent, and none "
       "of /k)",
       "there is no key here to log in to spark-2 with",
       "make one with ssh-keygen and put its public half on spark-2, or name its file as "
       "`identity`"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: too many keys were tried (/k)",
       "spark-2 ended the login: too many keys were tried",
       "name the right key file for spark-2 as `identity` in `access`"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: the key is accepted, but another login method "
       "is required (password)",
       "spark-2 accepts our key but requires another login method",
       "set `AuthenticationMethods publickey` in the sshd_config of spark-2"},
      {"spark-2 (10.0.0.2): cannot log in as nvidia: no keys are taken there, only: password",
       "sshd of spark-2 takes no keys",
       "allow keys there: PubkeyAuthentication yes in the sshd_config of spark-2"},
      {"spark-2: the identity file /k does not exist",
       "the identity file for spark-2 cannot be used here",
       "correct `identity` in `access` of the manifest for spark-2"},
      {"/k:3: spark-2 (10.0.0.2): the host key changed: a is offered, b is known",
       "the host key of spark-2 changed: it was reinstalled, or another machine answers at its "
       "address",
       "make sure that it is spark-2, then remove the old key (ssh-keygen -R) and accept the new "
       "one"},
      {"spark-2 (10.0.0.2): the host key is not known: a",
       "the host key of spark-2 is not known here",
       "compare it with the one that spark-2 shows, then accept it once by hand"},
      {"/k:3: spark-2 (10.0.0.2): the host key is revoked: a",
       "spark-2 shows a host key that is revoked here", "give spark-2 a new host key"}};
  for (const AccessCase& one : cases) {
    Sample sample = OnSwitch(3);
    sample.Lose(2);
    sample.facts.unreachable.at("spark-2").message = one.why;
    const auto findings = ListFindings(sample, PassedChecks(sample));
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].measured, one.why);
    EXPECT_EQ(findings[0].cause, one.cause);
    EXPECT_EQ(findings[0].next_step, one.next);
  }
}

}  // namespace
}  // namespace reconciler
