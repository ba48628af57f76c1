#include "reconciler/verify/links/run/script.h"

#include <gmock/gmock.h>

#include "tests/unit/verify/sample.h"
#include "tests/unit/verify/shell_nodes.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kScriptNonce = "00112233445566778899aabbccddeeff";
constexpr std::string_view kPingWorks =
    "echo '2 packets transmitted, 2 received, 0% packet loss'\n";

class VerifyScriptTest : public ShellNodes {
 protected:
  NodeProbes Probes(int pings, int logins) const {
    NodeProbes probes{.from = "spark-1", .user = user_};
    for (int i = 0; i < pings; ++i) {
      probes.pings.push_back({.to = "spark-2",
                              .rail = i,
                              .netdev = fmt::format("e{}", i),
                              .address = fmt::format("10.0.{}.2", i),
                              .mtu = 9000});
    }
    for (int i = 0; i < logins; ++i) {
      probes.logins.push_back({.to = "spark-2", .rail = i, .host = fmt::format("host-{}", i)});
    }
    return probes;
  }

  std::vector<Check> Measure(const NodeProbes& probes, bool alone = false) const {
    return ReadReply(probes, Run(BuildVerifyScript(probes, kScriptNonce), alone), kScriptNonce);
  }

  std::vector<std::string> Symptoms(const std::vector<Check>& checks) const {
    std::vector<std::string> texts;
    for (const Check& check : checks) texts.emplace_back(ToString(check.symptom));
    return texts;
  }
};

TEST_F(VerifyScriptTest, QueriesPingAndSshInTheseWords) {
  Program("ping", "printf '%s\\n' \"$*\" >>\"$D/pings\"\n" + std::string(kPingWorks));
  Program("ssh", "printf '%s\\n' \"$*\" >>\"$D/logins\"\n");
  EXPECT_THAT(Symptoms(Measure(Probes(1, 1))), ElementsAre("", ""));
  EXPECT_EQ(Get("pings"), "-n -M do -s 8972 -c 2 -i 0.2 -W 1 -I e0 10.0.0.2\n");
  EXPECT_EQ(Get("logins"),
            "-n -T -x -a -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=yes -o "
            "UpdateHostKeys=no -o ControlMaster=no -o ControlPath=none -o IdentityAgent=none -o "
            "LogLevel=ERROR -- host-0 true\n");
}

// Else a node whose neighbour is silent would take its own answer for it.
TEST_F(VerifyScriptTest, APingToAllNodesOfARailIsNotAnsweredByTheSender) {
  Program("ping", "printf '%s\\n' \"$*\" >>\"$D/pings\"\n" + std::string(kPingWorks));
  NodeProbes probes = Probes(1, 0);
  probes.pings[0].address = "ff02::1%e0";
  EXPECT_THAT(Symptoms(Measure(probes)), ElementsAre(""));
  EXPECT_EQ(Get("pings"), "-nL -M do -s 8952 -c 2 -i 0.2 -W 1 -I e0 ff02::1%e0\n");
}

TEST_F(VerifyScriptTest, APathIsMeasuredOverTheRouteToIt) {
  Program("ping", "printf '%s\\n' \"$*\" >>\"$D/pings\"\n" + std::string(kPingWorks));
  NodeProbes probes{.from = "spark-1", .user = user_};
  probes.paths = {{.address = "192.168.50.9", .mtu = 9000}};
  EXPECT_THAT(Symptoms(Measure(probes)), ElementsAre(""));
  EXPECT_EQ(Get("pings"),
            "-n -4 -c 2 -i 0.2 -W 1 192.168.50.9\n"
            "-n -4 -M do -s 8972 -c 3 -i 0.2 -W 1 192.168.50.9\n");
}

TEST_F(VerifyScriptTest, APathThatLosesFullSizePacketsIsNotASilentOne) {
  Program("ping",
          "case \"$*\" in\n"
          "  *'-M do'*50.9|*50.8) echo '2 packets transmitted, 0 received'; exit 1 ;;\n"
          "esac\n" +
              std::string(kPingWorks));
  NodeProbes probes{.from = "spark-1", .user = user_};
  probes.paths = {{.address = "192.168.50.9", .mtu = 9000},
                  {.address = "192.168.50.8", .mtu = 9000},
                  {.address = "192.168.50.7", .mtu = 1500}};
  const auto checks = Measure(probes);
  EXPECT_THAT(Symptoms(checks), ElementsAre("path-mtu-low", "path-silent", ""));
  EXPECT_EQ(checks[0].expected, "packets of 9000 bytes to 192.168.50.9 come back unfragmented");
  EXPECT_EQ(checks[0].measured, "small packets come back, full-size ones do not");
  EXPECT_EQ(checks[1].measured, "nothing comes back, small packets neither");
  EXPECT_EQ(checks[2].measured, "1500 bytes both ways");
}

TEST_F(VerifyScriptTest, APathThatLosesAPacketOnceIsMeasuredAgain) {
  Program("ping",
          "echo \"$*\" >>\"$D/pings\"\n"
          "case \"$*\" in\n"
          "  *'-M do'*'-c 3'*) echo '3 packets transmitted, 2 received, 33% packet loss' ;;\n"
          "  *'-M do'*50.9) echo '10 packets transmitted, 10 received, 0% packet loss' ;;\n"
          "  *'-M do'*) echo '10 packets transmitted, 7 received, 30% packet loss' ;;\n"
          "  *) echo '2 packets transmitted, 1 received, 50% packet loss' ;;\n"
          "esac\n");
  NodeProbes probes{.from = "spark-1", .user = user_};
  probes.paths = {{.address = "192.168.50.9", .mtu = 9000},
                  {.address = "192.168.50.8", .mtu = 9000}};
  const auto checks = Measure(probes);
  EXPECT_THAT(Symptoms(checks), ElementsAre("", "path-loses-packets"));
  EXPECT_EQ(checks[0].measured, "9000 bytes both ways");
  EXPECT_EQ(checks[1].measured, "7 of 10 full-size packets came back");
}

// Names with an address, as the resolver of a node has them.
constexpr std::string_view kResolver =
    "echo \"$*\" >>\"$D/lookups\"\n"
    "[ \"$1\" = ahostsv4 ] || exit 1\n"
    "shift\n"
    "for name do\n"
    "  while read -r own addresses; do\n"
    "    [ \"$own\" = \"$name\" ] || continue\n"
    "    for one in $addresses; do printf '%s STREAM %s\\n%s DGRAM\\n' $one $name $one; done\n"
    "  done <\"$D/names\"\n"
    "done\n";

TEST_F(VerifyScriptTest, NamesThatLeadWhereTheyShallAreOneLookupAndNoCheck) {
  Program("getent", std::string(kResolver));
  std::ofstream(directory_ + "/names") << "a-rail0 10.0.0.2\nb-rail0 10.0.0.3\n";
  NodeProbes probes{.from = "spark-1", .user = user_};
  probes.names = {{.name = "a-rail0", .address = "10.0.0.2"},
                  {.name = "b-rail0", .address = "10.0.0.3"}};
  EXPECT_THAT(Measure(probes), testing::IsEmpty());
  EXPECT_EQ(Get("lookups"), "ahostsv4 a-rail0 b-rail0\n");
}

TEST_F(VerifyScriptTest, EachNameThatLeadsElsewhereIsNamed) {
  Program("getent", std::string(kResolver));
  std::ofstream(directory_ + "/names")
      << "a-rail0 10.9.0.2\nb-rail0 10.0.0.3\nc-rail0 10.9.0.4 10.0.0.4\n";
  NodeProbes probes{.from = "spark-1", .user = user_};
  int host = 2;
  for (const char* name : {"a", "b", "c", "d"}) {
    probes.names.push_back(
        {.name = fmt::format("{}-rail0", name), .address = fmt::format("10.0.0.{}", host++)});
  }
  const auto checks = Measure(probes);
  ASSERT_THAT(Symptoms(checks),
              ElementsAre("host-name-wrong", "host-name-wrong", "host-name-wrong"));
  EXPECT_EQ(checks[0].expected, "a-rail0 has the address 10.0.0.2 and no other");
  EXPECT_EQ(checks[0].measured, "a-rail0 has 10.9.0.2");
  EXPECT_EQ(checks[0].subject, "a-rail0");
  EXPECT_EQ(checks[1].measured, "c-rail0 has 10.9.0.4 10.0.0.4");
  EXPECT_EQ(checks[2].measured, "d-rail0 has no address");
}

TEST_F(VerifyScriptTest, ANameThatTwoLinesGiveTheSameAddressIsWell) {
  Program("getent", std::string(kResolver));
  std::ofstream(directory_ + "/names") << "a-rail0 10.0.0.2 10.0.0.2\n";
  NodeProbes probes{.from = "spark-1", .user = user_};
  probes.names = {{.name = "a-rail0", .address = "10.0.0.2"}};
  EXPECT_THAT(Measure(probes), testing::IsEmpty());
}

TEST_F(VerifyScriptTest, ALookupWithoutAnAnswerIsNoWrongName) {
  NodeProbes probes{.from = "spark-1", .user = user_};
  probes.names = {{.name = "a-rail0", .address = "10.0.0.2"},
                  {.name = "b-rail0", .address = "10.0.0.3"}};
  for (const char* resolver : {"exit 124\n", "exit 127\n"}) {
    Program("getent", resolver);
    const auto checks = Measure(probes);
    ASSERT_EQ(checks.size(), 2U) << resolver;
    for (const Check& check : checks) {
      EXPECT_EQ(check.outcome, Outcome::kSkipped);
      EXPECT_EQ(check.why, "getent gave no answer, or none within its time limit");
    }
  }
}

TEST_F(VerifyScriptTest, EachProbeGetsItsOwnAnswer) {
  // e0 works, e1 loses jumbo packets, e2 is silent, e3 refuses the size.
  Program("ping",
          "case \"$*\" in\n"
          "  *'-M do'*e1*|*e2*) echo '2 packets transmitted, 0 received'; exit 1 ;;\n"
          "  *'-M do'*e3*) echo 'ping: local error: message too long, mtu=1500' >&2; exit 1 ;;\n"
          "esac\n" +
              std::string(kPingWorks));
  Program("ssh",
          "case \"$*\" in\n"
          "  *host-1*) echo 'n@host-1: Permission denied (publickey).' >&2; exit 255 ;;\n"
          "  *host-2*) echo 'Host key verification failed.' >&2; exit 255 ;;\n"
          "esac\n");
  const auto checks = Measure(Probes(4, 3));
  EXPECT_THAT(Symptoms(checks), ElementsAre("", "jumbo-lost", "nothing-back", "too-long-for-sender",
                                            "", "ssh-denied", "ssh-host-key-unknown"));
  EXPECT_THAT(checks[3].evidence, ElementsAre("ping: local error: message too long, mtu=1500"));
  EXPECT_THAT(checks[5].evidence, ElementsAre("n@host-1: Permission denied (publickey)."));
}

TEST_F(VerifyScriptTest, SmallPacketsAreTriedWhereFullSizeOnesAreLost) {
  Program("ping",
          "printf '%s\\n' \"$*\" >>\"$D/pings\"\n"
          "case \"$*\" in *'-M do'*) [ \"$(wc -l <\"$D/pings\")\" -gt 1 ] || exit 1 ;; esac\n" +
              std::string(kPingWorks));
  EXPECT_THAT(Symptoms(Measure(Probes(1, 0))), ElementsAre(""));
  EXPECT_EQ(Get("pings"),
            "-n -M do -s 8972 -c 2 -i 0.2 -W 1 -I e0 10.0.0.2\n"
            "-n -c 2 -i 0.2 -W 1 -I e0 10.0.0.2\n"
            "-n -M do -s 8972 -c 2 -i 0.2 -W 1 -I e0 10.0.0.2\n");
}

TEST_F(VerifyScriptTest, HostileValuesStayOneWord) {
  const std::string nasty = "e'0\"; touch $D/owned; $(touch $D/owned) `id`\n-x *";
  Program("ping", "printf '%s|' \"$@\" >>\"$D/pings\"\n" + std::string(kPingWorks));
  Program("ssh", "printf '%s|' \"$@\" >>\"$D/logins\"\n");
  NodeProbes probes = Probes(1, 1);
  probes.pings[0].netdev = probes.pings[0].address = probes.logins[0].host = nasty;
  EXPECT_THAT(Symptoms(Measure(probes)), ElementsAre("", ""));
  EXPECT_THAT(Get("pings"), HasSubstr("|-I|" + nasty + "|" + nasty + "|"));
  EXPECT_THAT(Get("logins"), HasSubstr("|--|" + nasty + "|true|"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/owned"));
}

TEST_F(VerifyScriptTest, CountersAreReadBeforeThePingsAndAfterThem) {
  Program("ping", "echo >>\"$D/pings\"\n" + std::string(kPingWorks));
  Program("ethtool",
          "echo \"$*\" >>\"$D/calls\"; n=$(cat \"$D/pings\" 2>/dev/null | wc -l)\n"
          "printf 'NIC statistics:\\n     rx_packets: 7%s\\n     rx_crc_errors_phy: %s\\n' $n $n\n"
          "printf '     rx_corrected_bits_phy: %s\\n     link_down_events_phy: 3\\n' $n\n");
  const auto checks = Measure(Probes(1, 0));
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[1].what, "errors");
  EXPECT_EQ(checks[1].measured, "rx_crc_errors_phy grew by 1 to 1");
  EXPECT_EQ(Get("calls"), "-S e0\n-S e0\n");
}

TEST_F(VerifyScriptTest, WithoutEthtoolTheKernelReportsLostLinks) {
  Program("ethtool", "exit 127\n");
  NodeProbes probes = Probes(1, 0);
  probes.pings[0].netdev = "lo";
  const auto checks = Measure(probes);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[1].measured, "none grew");
}

TEST_F(VerifyScriptTest, LogsInAsTheMeshUser) {
  Program("runuser", "echo \"$1 $2 $3\" >>\"$D/users\"\nshift 3\nexec \"$@\"\n");
  Program("ssh", "exit 0\n");
  NodeProbes probes = Probes(0, 1);
  probes.user = "no'body";
  EXPECT_THAT(Symptoms(Measure(probes)), ElementsAre(""));
  EXPECT_EQ(Get("users"), "-u no'body --\n");
}

TEST_F(VerifyScriptTest, BecomesTheMeshUserOnceForAllLogins) {
  Program("runuser", "echo \"$1 $2 $3\" >>\"$D/users\"\nshift 3\nexec \"$@\"\n");
  Program("ssh", "case \"$*\" in *host-1*) echo 'no route' >&2; exit 255 ;; esac\n");
  NodeProbes probes = Probes(0, 3);
  probes.user = "ada";
  const auto checks = Measure(probes);
  EXPECT_THAT(Symptoms(checks), ElementsAre("", "ssh-failed", ""));
  EXPECT_EQ(Get("users"), "-u ada --\n");
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/tmp"));
}

TEST_F(VerifyScriptTest, AUserWhoIsNotThereFailsEachLoginAndIsShown) {
  Program("runuser", "echo 'runuser: user ada does not exist' >&2; exit 1\n");
  NodeProbes probes = Probes(0, 2);
  probes.user = "ada";
  const auto checks = Measure(probes);
  EXPECT_THAT(Symptoms(checks), ElementsAre("probe-failed", "probe-failed"));
  for (const Check& check : checks) {
    EXPECT_EQ(check.why, "could not become the user of the mesh");
    EXPECT_THAT(check.evidence, ElementsAre("runuser: user ada does not exist"));
  }
}

TEST_F(VerifyScriptTest, WithoutAUserTheLoginUserIsUsed) {
  Program("runuser", "exit 9\n");
  Program("ssh", "exit 0\n");
  NodeProbes probes = Probes(0, 1);
  probes.user = "";
  const std::string script = BuildVerifyScript(probes, kScriptNonce);
  EXPECT_THAT(Symptoms(ReadReply(probes, Run("unset SUDO_USER\n" + script), kScriptNonce)),
              ElementsAre(""));
  // sudo says who became root: that one's keys are the mesh's.
  const auto checks = ReadReply(probes, Run("SUDO_USER=someone\n" + script), kScriptNonce);
  EXPECT_EQ(checks[0].measured, "ssh ended with 9");
}

TEST_F(VerifyScriptTest, AMissingProgramIsNotAFailure) {
  for (const char* tool : {"mktemp", "rm", "cat", "id", "timeout", "grep", "sleep"}) {
    for (const char* folder : {"/usr/bin/", "/bin/"}) {
      if (!std::filesystem::exists(std::string(folder) + tool)) continue;
      std::filesystem::create_symlink(std::string(folder) + tool, directory_ + "/bin/" + tool);
      break;
    }
  }
  const auto checks = Measure(Probes(1, 1), true);
  EXPECT_EQ(checks[0].why, "ping is not installed");
  EXPECT_EQ(checks[1].why, "ssh is not installed");
  EXPECT_THAT(Symptoms(checks), ElementsAre("program-missing", "program-missing"));
}

TEST_F(VerifyScriptTest, AConnectionThatABusySshdDropsIsTriedOnceMore) {
  Program("ssh",
          "case \"$*\" in *host-0*) mkdir \"$D/tried\" 2>/dev/null || exit 0 ;; esac\n"
          "echo try >>\"$D/tries\"\n"
          "echo 'kex_exchange_identification: Connection closed by remote host' >&2; exit 255\n");
  EXPECT_THAT(Symptoms(Measure(Probes(0, 2))), ElementsAre("", "ssh-dropped"));
  EXPECT_EQ(Get("tries"), "try\ntry\ntry\n");  // host-0 once, host-1 twice
}

// Writes how many of its kind run at the same moment.
constexpr std::string_view kCounting =
    ">\"$D/tmp/running.$$\"\nls \"$D/tmp\" | grep -c '^running' >>\"$D/counts\"\nsleep 0.05\n"
    "rm \"$D/tmp/running.$$\"\n";

int MostAtOnce(const std::string& counts) {
  int most = 0;
  for (const std::string& line : SplitLines(counts)) most = std::max(most, std::stoi(line));
  return most;
}

TEST_F(VerifyScriptTest, OnlySomePingsRunAtOnce) {
  Program("ping", std::string(kCounting) + std::string(kPingWorks));
  EXPECT_THAT(Symptoms(Measure(Probes(40, 0))), testing::Each(""));
  EXPECT_EQ(SplitLines(Get("counts")).size(), 40u);
  EXPECT_LE(MostAtOnce(Get("counts")), 16);
  EXPECT_GE(MostAtOnce(Get("counts")), 2);
}

TEST_F(VerifyScriptTest, FewLoginsRunAtOnce) {
  Program("ssh", std::string(kCounting));
  EXPECT_THAT(Symptoms(Measure(Probes(0, 20))), testing::Each(""));
  EXPECT_EQ(SplitLines(Get("counts")).size(), 20u);
  EXPECT_LE(MostAtOnce(Get("counts")), 4);
}

TEST_F(VerifyScriptTest, StartsWithTheFirstOfItsOwnOrder) {
  // Each waits until four have come.
  Program("ssh",
          "for host; do case $host in host-*) echo \"$host\" >>\"$D/logins\" ;; esac; done\n"
          "until [ \"$(wc -l <\"$D/logins\")\" -ge 4 ]; do sleep 0.02; done\n");
  NodeProbes probes = Probes(0, 6);
  probes.first_login = 4;
  EXPECT_THAT(Symptoms(Measure(probes)), testing::Each(""));
  auto logins = SplitLines(Get("logins"));
  ASSERT_EQ(logins.size(), 6u);
  logins.resize(4);
  EXPECT_THAT(logins, testing::UnorderedElementsAre("host-4", "host-5", "host-0", "host-1"));
}

TEST_F(VerifyScriptTest, LeavesNothingBehind) {
  Program("ping", std::string(kPingWorks));
  Program("ssh", "exit 0\n");
  Measure(Probes(3, 3));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/tmp"));
}

TEST_F(VerifyScriptTest, ANodeWithoutRoomForItsAnswersIsNotMeasured) {
  std::filesystem::remove_all(directory_ + "/tmp");
  const auto checks = Measure(Probes(1, 0));
  EXPECT_EQ(checks[0].outcome, Outcome::kCouldNotMeasure);
  EXPECT_EQ(checks[0].why, "the script ended with 1 without an answer for this");
  EXPECT_THAT(checks[0].evidence, ElementsAre(HasSubstr("mktemp: failed to create directory")));
}

TEST_F(VerifyScriptTest, ThePingOfThisSystemIsUnderstood) {
  NodeProbes probes = Probes(2, 0);
  probes.pings[0] = {
      .to = "spark-2", .rail = 0, .netdev = "lo", .address = "127.0.0.1", .mtu = 9000};
  probes.pings[1] = probes.pings[0];
  probes.pings[1].netdev = "spark-none";
  const auto checks = Measure(probes);
  EXPECT_EQ(checks[0].measured, "9000 bytes both ways");
  EXPECT_EQ(checks[1].symptom, Symptom::kNothingBack);
  EXPECT_THAT(checks[1].evidence, ElementsAre(HasSubstr("spark-none")));
}

TEST(ComputeVerifyLimit, CoversEveryLaneRunningIntoItsLimits) {
  NodeProbes probes;
  EXPECT_EQ(ComputeVerifyLimit(probes), std::chrono::seconds(15));
  // Counters twice and neighbours, 4 s and 2 s to kill each. Two rounds of a small and three
  // full-size pings, 4 s and 2 s to kill each, and a second between.
  probes.pings.resize(17);
  probes.logins.resize(4);  // one round, tried twice: 12 s and 2 s to kill, and a second between
  EXPECT_EQ(ComputeVerifyLimit(probes), std::chrono::seconds(15 + 18 + 2 * 25 + 29));
}

}  // namespace
}  // namespace reconciler
