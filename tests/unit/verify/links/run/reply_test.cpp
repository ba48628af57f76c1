#include "reconciler/verify/links/run/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

constexpr std::string_view kNonce = "00112233445566778899aabbccddeeff";
constexpr std::string_view kBothBack =
    "PING 192.168.177.2 (192.168.177.2) from 192.168.177.1 enp1s0f1np1: 8972(9000) bytes of data.\n"
    "8980 bytes from 192.168.177.2: icmp_seq=1 ttl=64 time=0.1 ms\n\n"
    "--- 192.168.177.2 ping statistics ---\n"
    "2 packets transmitted, 2 received, 0% packet loss, time 201ms\n";

NodeProbes MakeOneOfEach() {
  NodeProbes probes{.from = "spark-1", .user = "nvidia"};
  probes.pings = {{.to = "spark-2", .rail = 0, .netdev = "e0", .address = "a", .mtu = 9000}};
  probes.logins = {{.to = "spark-2", .rail = 0, .host = "spark-2-rail0"}};
  return probes;
}

struct Part {
  std::string label;
  int exit_code;
  std::string out;
  std::string err = "";
};

ScriptReply MakeReply(const std::vector<Part>& parts) {
  ScriptReply reply;
  for (const Part& part : parts) {
    reply.out += fmt::format("\n{} {}\n{}\n{}", kNonce, part.label, part.exit_code, part.out);
    reply.err += fmt::format("\n{} {}\n{}", kNonce, part.label, part.err);
  }
  return reply;
}

Check Ping(const std::vector<Part>& parts) {
  return ReadReply(MakeOneOfEach(), MakeReply(parts), kNonce).at(0);
}

Check Ssh(int exit_code, const std::string& err) {
  return ReadReply(MakeOneOfEach(), MakeReply({{"ssh.0", exit_code, "", err}}), kNonce).at(1);
}

const Part kSmallBack = {"small.0", 0, std::string(kBothBack)};

TEST(PingReply, TwoOfTwoPass) {
  const Check check = Ping({kSmallBack, {"jumbo.0", 0, std::string(kBothBack)}});
  EXPECT_EQ(check.outcome, Outcome::kPass);
  EXPECT_EQ(check.expected, "packets of 9000 bytes come back unfragmented");
  EXPECT_EQ(check.measured, "9000 bytes both ways");
  EXPECT_TRUE(check.evidence.empty());
}

TEST(PingReply, ALostSmallOneDoesNotCount) {
  const Part one_back = {"small.0", 0, "2 packets transmitted, 1 received, 50% packet loss\n"};
  const Check check = Ping({one_back, {"jumbo.0", 0, std::string(kBothBack)}});
  EXPECT_EQ(check.outcome, Outcome::kPass);
  EXPECT_TRUE(check.evidence.empty());
}

struct PingReply {
  std::string name;
  std::vector<Part> parts;
  Outcome outcome;
  Symptom symptom;
  std::string words;  // measured, or why
};

class BadPing : public testing::TestWithParam<PingReply> {};

TEST_P(BadPing, NamesItsSymptom) {
  const Check check = Ping(GetParam().parts);
  EXPECT_EQ(check.outcome, GetParam().outcome);
  EXPECT_EQ(ToString(check.symptom), ToString(GetParam().symptom));
  EXPECT_EQ(check.outcome == Outcome::kFail ? check.measured : check.why, GetParam().words);
}

const std::string kNoneBack = "2 packets transmitted, 0 received, 100% packet loss, time 201ms\n";

INSTANTIATE_TEST_SUITE_P(
    Cases, BadPing,
    testing::Values(
        PingReply{"Silence",
                  {{"small.0", 1, kNoneBack}},
                  Outcome::kFail,
                  Symptom::kNothingBack,
                  "nothing comes back, small packets neither"},
        PingReply{"JumboLost",
                  {kSmallBack, {"jumbo.0", 1, kNoneBack}},
                  Outcome::kFail,
                  Symptom::kJumboLost,
                  "small packets come back, full-size ones do not"},
        PingReply{"SomeLost",
                  {kSmallBack, {"jumbo.0", 0, "2 packets transmitted, 1 received, 50%\n"}},
                  Outcome::kFail,
                  Symptom::kSomeLost,
                  "1 of 2 full-size packets came back"},
        PingReply{"LocalMtu",
                  {kSmallBack,
                   {"jumbo.0", 1, kNoneBack, "ping: local error: message too long, mtu=1500\n"}},
                  Outcome::kFail,
                  Symptom::kTooLongForSender,
                  "the sender's kernel refuses packets of this size"},
        PingReply{"NoSuchPort",
                  {{"small.0", 2, "", "ping: SO_BINDTODEVICE e0: No such device\n"}},
                  Outcome::kFail,
                  Symptom::kNothingBack,
                  "nothing comes back, small packets neither"},
        PingReply{"NotAllowed",
                  {{"small.0", 2, "", "ping: socktype: SOCK_RAW\nOperation not permitted\n"}},
                  Outcome::kCouldNotMeasure,
                  Symptom::kProbeFailed,
                  "ping ended with 2"},
        PingReply{"Hangs",
                  {{"small.0", 124, ""}},
                  Outcome::kCouldNotMeasure,
                  Symptom::kProbeFailed,
                  "ping did not end within its time limit"},
        PingReply{"NotInstalled",
                  {{"small.0", 127, "", "timeout: failed to run command 'ping': No such file\n"}},
                  Outcome::kCouldNotMeasure,
                  Symptom::kProgramMissing,
                  "ping is not installed"},
        PingReply{"ZeroWithoutARow",
                  {{"small.0", 0, "hello\n"}},
                  Outcome::kCouldNotMeasure,
                  Symptom::kProbeFailed,
                  "ping ended with 0"},
        PingReply{"NoJumboAnswer",
                  {kSmallBack},
                  Outcome::kCouldNotMeasure,
                  Symptom::kNoAnswer,
                  "the script ended with 0 without an answer for this"},
        PingReply{"NoAnswer",
                  {},
                  Outcome::kCouldNotMeasure,
                  Symptom::kNoAnswer,
                  "the script ended with 0 without an answer for this"}),
    [](const auto& test) { return test.param.name; });

TEST(PingReply, EvidenceIsPrintableAndShort) {
  const std::string err = "ping: \x1b[31mlocal error\n" + std::string(500, 'x') + "\nthird\n";
  const Check check = Ping(
      {{"small.0", 1, "From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\n" + kNoneBack, err}});
  EXPECT_THAT(
      check.evidence,
      testing::ElementsAre("ping: \\x1b[31mlocal error", std::string(200, 'x'),
                           "From 10.0.0.1 icmp_seq=1 Destination Host Unreachable",
                           "2 packets transmitted, 0 received, 100% packet loss, time 201ms"));
}

struct SshReply {
  std::string name;
  int exit_code;
  std::string err;
  Symptom symptom;
};

class BadSsh : public testing::TestWithParam<SshReply> {};

TEST_P(BadSsh, NamesItsSymptom) {
  const Check check = Ssh(GetParam().exit_code, GetParam().err);
  EXPECT_EQ(ToString(check.symptom), ToString(GetParam().symptom));
  const bool unmeasured =
      check.symptom == Symptom::kProgramMissing || check.symptom == Symptom::kProbeFailed;
  EXPECT_EQ(check.outcome, unmeasured ? Outcome::kCouldNotMeasure : Outcome::kFail);
}

// As OpenSSH 9.2 and 9.6 say it.
INSTANTIATE_TEST_SUITE_P(
    Cases, BadSsh,
    testing::Values(
        SshReply{"Denied", 255, "nvidia@spark-2-rail0: Permission denied (publickey,password).\r\n",
                 Symptom::kSshDenied},
        SshReply{"KeyFileOpenToOthers", 255,
                 "@@@@@@@@@@@@@@@@\n@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\n"
                 "@@@@@@@@@@@@@@@@\nPermissions 0644 for '/home/nvidia/.ssh/id_ed25519_spark' are "
                 "too open.\nThis private key will be ignored.\n"
                 "nvidia@spark-2-rail0: Permission denied (publickey).\r\n",
                 Symptom::kSshKeyUnprotected},
        SshReply{"Changed", 255,
                 "@@@@@@@@@@@@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n"
                 "@@@@@@@@@@@@@@@@\nHost key verification failed.\r\n",
                 Symptom::kSshHostKeyChanged},
        SshReply{"Unknown", 255,
                 "No ED25519 host key is known for spark-2-rail0 and you have requested strict "
                 "checking.\r\nHost key verification failed.\r\n",
                 Symptom::kSshHostKeyUnknown},
        SshReply{"Name", 255,
                 "ssh: Could not resolve hostname spark-2-rail0: Name or service not known\r\n",
                 Symptom::kSshNameUnknown},
        SshReply{"Refused", 255,
                 "ssh: connect to host spark-2-rail0 port 22: Connection refused\r\n",
                 Symptom::kSshRefused},
        SshReply{"TimedOut", 255,
                 "ssh: connect to host spark-2-rail0 port 22: Connection timed out\r\n",
                 Symptom::kSshNoConnection},
        SshReply{"BannerTimedOut", 255, "Connection timed out during banner exchange\r\n",
                 Symptom::kSshNoConnection},
        SshReply{"NoRoute", 255, "ssh: connect to host spark-2-rail0 port 22: No route to host\r\n",
                 Symptom::kSshNoConnection},
        SshReply{"Hangs", 124, "", Symptom::kSshNoConnection},
        SshReply{"Dropped", 255,
                 "kex_exchange_identification: Connection closed by remote host\r\n",
                 Symptom::kSshDropped},
        SshReply{"Nologin", 1, "This account is currently not available.\n", Symptom::kSshFailed},
        SshReply{"DeniedByThePeersShell", 126, "bash: /etc/profile: Permission denied (x)\n",
                 Symptom::kSshFailed},
        SshReply{"NoUser", 1, "runuser: user nvidia does not exist\n", Symptom::kProbeFailed},
        SshReply{"NotInstalled", 127, "timeout: failed to run command 'ssh'\n",
                 Symptom::kProgramMissing}),
    [](const auto& test) { return test.param.name; });

TEST(SshReply, ALoginThatWorksPasses) {
  const Check check = Ssh(0, "");
  EXPECT_EQ(check.outcome, Outcome::kPass);
  EXPECT_EQ(check.expected, "ssh spark-2-rail0 logs in without a question");
  EXPECT_EQ(check.measured, "logged in");
}

TEST(SshReply, RowsOfAtSignsAreNoEvidence) {
  EXPECT_THAT(
      Ssh(255, "@@@@@@\n@ REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@@@\nnasty\n").evidence,
      testing::ElementsAre("@ REMOTE HOST IDENTIFICATION HAS CHANGED! @", "nasty"));
}

TEST(Reply, AnExitCodeThatIsCutOffIsNoAnswer) {
  ScriptReply reply{.out = fmt::format("\n{} small.0\n", kNonce)};
  const Check check = ReadReply(MakeOneOfEach(), reply, kNonce).at(0);
  EXPECT_EQ(check.outcome, Outcome::kCouldNotMeasure);
  EXPECT_EQ(check.why, "the answer of ping was cut short");
}

}  // namespace
}  // namespace reconciler
