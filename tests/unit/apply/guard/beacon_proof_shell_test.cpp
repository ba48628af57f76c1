// How a node shows its addresses of the proof, and how it looks for its peers'.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/apply/guard/guard_machine.h"

namespace reconciler {
namespace {

// Two rails to one peer. Programs that change addresses or send packets leave a line in `calls`.
class BeaconProofTest : public GuardMachine {
 protected:
  BeaconProofTest() {
    IpProgram("echo \"ip $*\" >>" + QuoteForShell(Path("calls")));
    SetPing("rail0 rail1");
    Put("state/journal/0123456789abcdef/state", "armed\n");
    for (const char* netdev : {"rail0", "rail1"}) {
      Put(Carrier(netdev), "1\n");
      Put(DisableIpv6(netdev), "0\n");
    }
  }

  static std::string Carrier(const std::string& netdev) {
    return fmt::format("sys/class/net/{}/carrier", netdev);
  }
  static std::string DisableIpv6(const std::string& netdev) {
    return fmt::format("proc/sys/net/ipv6/conf/{}/disable_ipv6", netdev);
  }

  // Answers come on these interfaces alone.
  void SetPing(const std::string& netdevs) {
    Program("ping", fmt::format("echo \"ping $*\" >>{}\n"
                                "while [ \"$1\" != -I ]; do shift; done\n"
                                "case ' {} ' in *\" $2 \"*) exit 0 ;; *) exit 1 ;; esac",
                                QuoteForShell(Path("calls")), netdevs));
  }

  ScriptReply Request(const std::string& request) {
    return RunRequest(
        AdaptInterfaces(Adapt(fmt::format("PATH={}:$PATH\n{}", Path("bin"), request))),
        MakeNonce());
  }
  std::string AdaptInterfaces(std::string text) const {
    for (const std::string place : {"/sys/class/net", "/proc/sys/net"}) {
      for (std::size_t at = 0; (at = text.find(place, at)) != text.npos;) {
        text.replace(at, place.size(), Path(place.substr(1)));
        at += Path(place.substr(1)).size();
      }
    }
    return text;
  }

  static Peers MakeProof() {
    return {.text =
                "own rail0 fd00::1:1/64\npeer rail0 fd00::1:2 spark-2\n"
                "own rail1 fd00::2:1/64\npeer rail1 fd00::2:2 spark-2\n"};
  }

  // What the node says of its peer, sorted.
  std::string LookForPeers() {
    EXPECT_EQ(Request(BuildShowProofRequest(Journal(), MakeProof())).exit_code, 0);
    const ScriptReply reply = Request(BuildLookForPeersRequest(Journal()));
    EXPECT_EQ(reply.exit_code, 0) << reply.err;
    std::vector<std::string> lines = SplitLines(reply.out);
    std::sort(lines.begin(), lines.end());
    return Join(lines, "\n");
  }
};

TEST_F(BeaconProofTest, ItsAddressesAreSetOnEachInterface) {
  EXPECT_EQ(Request(BuildShowProofRequest(Journal(), MakeProof())).exit_code, 0);
  EXPECT_EQ(Get(Path("calls")),
            "ip -6 address replace fd00::1:1/64 dev rail0 nodad\n"
            "ip -6 address replace fd00::2:1/64 dev rail1 nodad\n");
}

TEST_F(BeaconProofTest, APeerThatAnswersOnOneInterfaceIsLookedForOnNoOther) {
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 answers");
  EXPECT_THAT(Get(Path("calls")), testing::Not(testing::HasSubstr("-I rail1")));
}

TEST_F(BeaconProofTest, WhereItDoesNotAnswerOnTheFirstAllAreTried) {
  SetPing("rail1");
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 silent\nspark-2 rail1 answers");
}

TEST_F(BeaconProofTest, APeerThatAnswersOnNoneIsSilent) {
  SetPing("");
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 silent\nspark-2 rail1 silent");
}

TEST_F(BeaconProofTest, AnInterfaceWithoutIpv6IsNamedAndNotTried) {
  Put(DisableIpv6("rail0"), "1\n");
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 ipv6-disabled\nspark-2 rail1 answers");
  EXPECT_THAT(Get(Path("calls")), testing::Not(testing::HasSubstr("-I rail0")));
}

TEST_F(BeaconProofTest, AKernelWithoutIpv6IsTheSame) {
  std::filesystem::remove_all(Path("proc"));
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 ipv6-disabled\nspark-2 rail1 ipv6-disabled");
}

TEST_F(BeaconProofTest, AnInterfaceThatIsAbsentDownOrWithoutCarrierIsNamed) {
  std::filesystem::remove_all(Path("sys/class/net/rail0"));
  Put(Carrier("rail1"), "0\n");
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 absent\nspark-2 rail1 no-carrier");
  std::filesystem::create_directories(
      Path(Carrier("rail0")));  // cannot be read, as when it is down
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 down\nspark-2 rail1 no-carrier");
}

TEST_F(BeaconProofTest, AnInterfaceThatTakesNoAddressIsNamed) {
  IpProgram("case \"$*\" in *rail1*) exit 2 ;; esac");
  EXPECT_EQ(LookForPeers(), "spark-2 rail0 answers\nspark-2 rail1 no-address");
}

TEST_F(BeaconProofTest, ANodeWithoutPeersSaysNothing) {
  EXPECT_EQ(Request(BuildShowProofRequest(Journal(), {})).exit_code, 0);
  const ScriptReply reply = Request(BuildLookForPeersRequest(Journal()));
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "");
}

TEST_F(BeaconProofTest, ANodeThatHasRevertedProvesNothing) {
  std::filesystem::create_symlink("revert", Journal() + "/decision");
  for (const std::string& request :
       {BuildShowProofRequest(Journal(), MakeProof()), BuildLookForPeersRequest(Journal())}) {
    const ScriptReply reply = Request(request);
    EXPECT_EQ(reply.exit_code, 1);
    EXPECT_EQ(reply.err, "this node has reverted the plan\n");
  }
  EXPECT_FALSE(std::filesystem::exists(Path("calls")));
}

TEST_F(BeaconProofTest, WithItsIntentANodeShowsItsBeaconAndNoProof) {
  Request(BuildShowProofRequest(Journal(), MakeProof()));
  std::filesystem::remove(Path("calls"));
  const Peers peers{.text = "own rail0 fd00::9:1/64\npeer rail0 fd00::9:2 spark-2\n"};
  const ScriptReply reply =
      Request("outside_is_whole() { :; }\n" + BuildIntentRequest(Journal(), {}, peers));
  EXPECT_EQ(reply.exit_code, 0) << reply.err;
  EXPECT_EQ(Get(Path("calls")),
            "ip -6 address del fd00::1:1/64 dev rail0 nodad\n"
            "ip -6 address del fd00::2:1/64 dev rail1 nodad\n"
            "ip -6 address replace fd00::9:1/64 dev rail0 nodad\n");
}

TEST_F(BeaconProofTest, WhyANodeWithIntentRevertsIsInItsLog) {
  Program("logger", "echo \"$*\" >>" + QuoteForShell(Path("log")));
  IpProgram("exit 2");
  SetPing("");
  const std::pair<const char*, const char*> files[] = {
      {"peers", "own rail0 fd00::9:1/64\npeer rail0 fd00::9:2 spark-2\n"},
      {"rounds", "1\n"},
      {"intent", ""}};
  for (const auto& [name, text] : files) {
    Put(std::string("state/journal/0123456789abcdef/") + name, text);
  }
  Put("state/journal/0123456789abcdef/guard", Adapt(BuildGuardScript(Journal(), {})));
  EXPECT_EQ(Run("sh " + QuoteForShell(Journal() + "/guard") + " watch query").out, "revert\n");
  EXPECT_THAT(Get(Path("log")),
              testing::StartsWith(
                  "-t spark-reconcile -- apply 0123456789abcdef: rail0 takes no beacon\n"
                  "-t spark-reconcile -- apply 0123456789abcdef: the beacon of spark-2 does not "
                  "answer\n"));
}

TEST_F(BeaconProofTest, ARevertRemovesTheAddressesOfTheProof) {
  Request(BuildShowProofRequest(Journal(), MakeProof()));
  std::filesystem::remove(Path("calls"));
  Put("guard", Adapt(BuildGuardScript(Journal(), {})));
  EXPECT_EQ(Run("sh " + QuoteForShell(Path("guard")) + " revert").exit_code, 0);
  EXPECT_THAT(Get(Path("calls")),
              testing::StartsWith("ip -6 address del fd00::1:1/64 dev rail0 nodad\n"
                                  "ip -6 address del fd00::2:1/64 dev rail1 nodad\n"));
}

}  // namespace
}  // namespace reconciler
