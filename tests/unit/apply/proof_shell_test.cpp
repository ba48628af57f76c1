// How a node finds out which pairs of ports reach each other: what the commit depends on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reconciler/apply/proof.sh.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

// One port, rail0 with 10.0.0.1/24. A program that the script calls leaves a line in `calls`.
class ProofScript : public ShellTest {
 protected:
  ProofScript() {
    const std::string calls = QuoteForShell(Path("calls"));
    Put("calls", "");
    Put("port/carrier", "1\n");
    SetAddress("10.0.0.1/24");
    Program("ip", fmt::format("[ \"$*\" = '-4 -o address show dev rail0' ] || exit 9\n"
                              "echo look >>{0}\n"
                              "[ \"$(grep -c look {0})\" -gt {1} ] && cat {2}\n",
                              calls, "\"$(cat " + QuoteForShell(Path("late")) + ")\"",
                              QuoteForShell(Path("address"))));
    Put("late", "0");
    Program("sleep", "");
    AnswerPings("[ \"$size\" -le 8972 ]");
  }

  void Program(const std::string& name, const std::string& body) {
    Put("bin/" + name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(Path("bin/" + name), std::filesystem::perms::owner_all);
  }
  void SetAddress(const std::string& address) {
    Put("address", fmt::format("2: rail0    inet {} scope global rail0\n", address));
  }
  // `condition` of $size and $count.
  void AnswerPings(const std::string& condition, const std::string& first = "") {
    Program("ping", "echo \"ping $*\" >>" + QuoteForShell(Path("calls")) + "\n" + first +
                        "while [ $# -gt 1 ]; do\n"
                        "  case $1 in -c) count=$2 ;; -s) size=$2 ;; esac\n"
                        "  shift\n"
                        "done\n" +
                        condition);
  }

  std::string Probe(const std::string& call, int wait_s = 0) {
    std::string script(kProofSh);
    const std::string folder = "/sys/class/net/$2";
    const std::size_t at = script.find(folder);
    EXPECT_NE(at, script.npos);
    script.replace(at, folder.size(), Path("port"));
    const ScriptReply reply = Run(fmt::format("PATH={}:$PATH\nWAIT_S={}\n{}\n{}\n",
                                              QuoteForShell(Path("bin")), wait_s, script, call));
    EXPECT_EQ(reply.err, "");
    return reply.out;
  }
  std::string ProbePair(int wait_s = 0) {
    return Probe("settle rail0 10.0.0.1/\npair spark-2 0 rail0 10.0.0.2 8972", wait_s);
  }
  std::string ProbeNeighbour() {
    return Probe("settle rail0 169.254.\nneighbour spark-2 1 rail0 8952");
  }
  std::string ListCalls() const { return Get(Path("calls")); }
};

TEST_F(ProofScript, OnePingOfTheFullSizeThatMayNotBeSplitIsEnough) {
  EXPECT_EQ(ProbePair(), "spark-2 0 answers\n");
  EXPECT_EQ(ListCalls(), "look\nping -n -q -M do -l 20 -c 1 -W 1 -s 8972 -I rail0 10.0.0.2\n");
}

TEST_F(ProofScript, OneLostPacketProvesNothing) {
  AnswerPings("[ \"$count\" = 3 ]");
  EXPECT_EQ(ProbePair(), "spark-2 0 answers\n");
}

TEST_F(ProofScript, APeerThatTakesSmallPacketsOnlyDoesNotAnswer) {
  AnswerPings("[ \"$size\" -le 8971 ]");
  EXPECT_EQ(ProbePair(), "spark-2 0 small-only\n");
}

TEST_F(ProofScript, APeerWithoutAnyAnswerIsSilent) {
  AnswerPings("false");
  EXPECT_EQ(ProbePair(), "spark-2 0 silent\n");
  EXPECT_NE(ListCalls().find(" -s 56 "), std::string::npos) << ListCalls();
}

TEST_F(ProofScript, APortWithAnotherAddressIsSilentWithoutAPing) {
  for (const char* address : {"10.0.0.11/24", "110.0.0.1/24", "10.0.0.2/24"}) {
    SetAddress(address);
    EXPECT_EQ(ProbePair(), "spark-2 0 silent\n") << address;
  }
  EXPECT_EQ(ListCalls(), "look\nlook\nlook\n");
}

TEST_F(ProofScript, AnAddressThatComesLateIsWaitedForAfterAChangeAlone) {
  Put("late", "10");
  EXPECT_EQ(ProbePair(2), "spark-2 0 answers\n");
  Put("calls", "");
  EXPECT_EQ(ProbePair(0), "spark-2 0 silent\n");
  Put("late", "11");
  Put("calls", "");
  EXPECT_EQ(ProbePair(2), "spark-2 0 silent\n");
}

TEST_F(ProofScript, APortWithoutACarrierIsDark) {
  EXPECT_EQ(Probe("port 3 rail0"), "");
  Put("port/carrier", "0\n");
  EXPECT_EQ(Probe("port 3 rail0"), "dark 3\n");
  std::filesystem::remove(Path("port/carrier"));
  EXPECT_EQ(Probe("port 3 rail0"), "dark 3\n");
}

// To a ping to all nodes of the rail, the other end answers by its own address.
constexpr const char* kAnswersAll =
    "for last; do :; done\n"
    "case $last in ff02::1%rail0)\n"
    "  echo '64 bytes from fe80::5%rail0: icmp_seq=1 ttl=64 time=0.05 ms'; exit 0 ;;\n"
    "esac\n";

TEST_F(ProofScript, TheNeighbourOfALinkLocalRailIsFoundByAPingToAllNodesOfIt) {
  SetAddress("169.254.7.9/16");
  AnswerPings("[ \"$size\" -le 8952 ]", kAnswersAll);
  EXPECT_EQ(ProbeNeighbour(), "spark-2 1 answers\n");
  EXPECT_EQ(ListCalls(),
            "look\nping -n -L -c 2 -i 0.3 -w 2 -I rail0 ff02::1%rail0\n"
            "ping -n -q -M do -l 20 -c 1 -W 1 -s 8952 -I rail0 fe80::5%rail0\n");
  AnswerPings("[ \"$size\" -le 8951 ]", kAnswersAll);
  EXPECT_EQ(ProbeNeighbour(), "spark-2 1 small-only\n");
  AnswerPings("false", kAnswersAll);
  EXPECT_EQ(ProbeNeighbour(), "spark-2 1 silent\n");
}

TEST_F(ProofScript, ALinkLocalRailOnWhichNoOneAnswersIsSilent) {
  SetAddress("169.254.7.9/16");
  AnswerPings("false");
  EXPECT_EQ(ProbeNeighbour(), "spark-2 1 silent\n");
  EXPECT_EQ(ListCalls(), "look\nping -n -L -c 2 -i 0.3 -w 2 -I rail0 ff02::1%rail0\n");
}

TEST_F(ProofScript, ALinkLocalPortWithoutAnAddressIsSilentWithoutAPing) {
  AnswerPings("true", kAnswersAll);
  EXPECT_EQ(ProbeNeighbour(), "spark-2 1 silent\n");
  EXPECT_EQ(ListCalls(), "look\n");
}

}  // namespace
}  // namespace reconciler
