#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;

struct SshCase {
  std::string name;
  Symptom symptom;
  std::string logins;
  std::string brief;
  std::string cause;
};

class Logins : public testing::TestWithParam<SshCase> {};

TEST_P(Logins, NameTheNodeThatRefuses) {
  const Sample sample = OnSwitch(3);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kSsh, GetParam().logins, GetParam().symptom);
  const auto findings = ListFindings(sample, checks);
  ASSERT_THAT(Brief(findings), ElementsAre(GetParam().brief));
  EXPECT_EQ(findings[0].cause, GetParam().cause);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Logins,
    testing::Values(
        SshCase{"DeniedEverywhere", Symptom::kSshDenied, "0>0@*",
                "ssh-denied spark-1 spark-2 spark-3 rail0 rail1 x12",
                "no node accepts another's key: the mesh has not been set up"},
        SshCase{
            "DeniedInto", Symptom::kSshDenied, "0>2@*", "ssh-denied spark-2 rail0 rail1 x4",
            "spark-2 accepts no peer's key: its authorized_keys lacks them, or sshd does not use "
            "that file"},
        SshCase{
            "DeniedOutOf", Symptom::kSshDenied, "2>0@*", "ssh-denied spark-2 rail0 rail1 x4",
            "no peer accepts the key of spark-2: it is not in their authorized_keys, or spark-2 "
            "does not offer it"},
        SshCase{"DeniedOneWay", Symptom::kSshDenied, "2>3@*",
                "ssh-denied spark-2 spark-3 rail0 rail1 x2",
                "the authorized_keys of spark-3 lacks the key of spark-2"},
        SshCase{"KeyUnprotectedOutOf", Symptom::kSshKeyUnprotected, "2>0@*",
                "ssh-key-unprotected spark-2 rail0 rail1 x4",
                "on spark-2 others may read the key file (its mode), so ssh does not use it"},
        SshCase{"KeyUnprotectedOneWay", Symptom::kSshKeyUnprotected, "2>3@*",
                "ssh-key-unprotected spark-2 spark-3 rail0 rail1 x2",
                "on spark-2 others may read the key file (its mode), so ssh does not use it for "
                "spark-3"},
        SshCase{"HostKeyChanged", Symptom::kSshHostKeyChanged, "0>3@*",
                "ssh-host-key-changed spark-3 rail0 rail1 x4",
                "spark-3 has other host keys than its peers recorded: it was reinstalled, or "
                "another machine answers at its address"},
        SshCase{"HostKeyUnknown", Symptom::kSshHostKeyUnknown, "1>0@*",
                "ssh-host-key-unknown spark-1 rail0 rail1 x4",
                "spark-1 knows none of its peers' host keys"},
        SshCase{"NameUnknown", Symptom::kSshNameUnknown, "1>2@1",
                "ssh-name-unknown spark-1 spark-2 rail1 x1",
                "spark-1 does not know the name of spark-2"},
        SshCase{"Refused", Symptom::kSshRefused, "0>1@0", "ssh-refused spark-1 rail0 x2",
                "sshd of spark-1 does not listen there"},
        SshCase{
            "SilentAlthoughPingsPass", Symptom::kSshNoConnection, "0>1@*",
            "ssh-no-connection spark-1 rail0 rail1 x4",
            "pings pass, but no peer gets an answer from port 22 of spark-1: a firewall on it, or "
            "sshd hangs"},
        SshCase{"Dropped", Symptom::kSshDropped, "0>1@*", "ssh-dropped spark-1 rail0 rail1 x4",
                "sshd of spark-1 closes connections before the login: it is overloaded, or blocks "
                "its peers"},
        SshCase{"Other", Symptom::kSshFailed, "3>1@0", "ssh-failed spark-3 spark-1 rail0 x1",
                "the login from spark-3 to spark-1 fails for another reason"}),
    [](const auto& test) { return test.param.name; });

TEST(LoginFindings, AnUnprotectedKeyFileIsRepairedByItsMode) {
  const Sample sample = OnSwitch(2);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kSsh, "1>2@*", Symptom::kSshKeyUnprotected);
  EXPECT_EQ(ListFindings(sample, checks)[0].next_step,
            "run `spark-reconcile plan`: apply sets the mode; or chmod 600 the file that the "
            "evidence names");
}

TEST(LoginFindings, TheManagementNetworkIsANetworkOfItsOwn) {
  Sample sample = OnSwitch(2);
  sample.cluster.nodes[0].address = "192.168.1.21";
  sample.cluster.nodes[1].address = "192.168.1.22";
  auto checks = PassedChecks(sample);
  for (Check& check : checks) {
    if (check.level != VerifyLevel::kSsh || check.rail) continue;
    check.outcome = Outcome::kFail;
    check.symptom = Symptom::kSshRefused;
  }
  const auto findings = ListFindings(sample, checks);
  EXPECT_THAT(Brief(findings),
              ElementsAre("ssh-refused spark-1 spark-2 x1", "ssh-refused spark-2 spark-1 x1"));
  EXPECT_EQ(findings[0].cause, "sshd of spark-2 does not listen there, or refuses spark-1");
}

// Also with `hosts: {manage: false}`.
TEST(LoginFindings, NamesAreLookedForInTheSshConfig) {
  const Sample sample = OnSwitch(2);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kSsh, "1>2@*", Symptom::kSshNameUnknown);
  EXPECT_EQ(ListFindings(sample, checks)[0].next_step,
            "run `spark-reconcile plan`: apply writes the names into ~/.ssh/config");
}

TEST(LoginFindings, ALoginOverADeadRailIsExplainedByItsPings) {
  const Sample sample = OnSwitch(3);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kPing, "3>0@1", Symptom::kNothingBack);
  Break(checks, VerifyLevel::kPing, "0>3@1", Symptom::kNothingBack);
  Break(checks, VerifyLevel::kSsh, "3>0@1", Symptom::kSshNoConnection);
  Break(checks, VerifyLevel::kSsh, "0>3@1", Symptom::kSshNoConnection);
  EXPECT_THAT(Brief(ListFindings(sample, checks)), ElementsAre("node-cut-off spark-3 rail1 x8"));
}

TEST(LoginFindings, ARefusalOverALossyRailIsItsOwnFinding) {
  const Sample sample = OnSwitch(2);
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kPing, "0>0@0", Symptom::kJumboLost);
  Break(checks, VerifyLevel::kSsh, "1>2@0", Symptom::kSshDenied);
  EXPECT_THAT(
      Brief(ListFindings(sample, checks)),
      ElementsAre("path-mtu spark-1 spark-2 rail0 x2", "ssh-denied spark-1 spark-2 rail0 x1"));
}

TEST(LoginFindings, AFactExplainsTheLoginThroughThePing) {
  Sample sample = OnSwitch(2);
  sample.Link(2, 0).ipv4.clear();
  auto checks = PassedChecks(sample);
  Break(checks, VerifyLevel::kPing, "0>0@0", Symptom::kNothingBack);
  Break(checks, VerifyLevel::kSsh, "0>0@0", Symptom::kSshNoConnection);
  EXPECT_THAT(Brief(ListFindings(sample, checks)), ElementsAre("address-missing spark-2 rail0 x5"));
}

}  // namespace
}  // namespace reconciler
