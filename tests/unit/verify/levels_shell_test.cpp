#include "reconciler/verify/levels.h"

#include <gmock/gmock.h>

#include "reconciler/verify/report/render.h"
#include "tests/support/fake_transport.h"
#include "tests/unit/verify/sample.h"
#include "tests/unit/verify/shell_nodes.h"

namespace reconciler {
namespace {

using testing::ElementsAre;

// Every node's script runs in a real shell; ping and ssh are the test's.
class LevelsTest : public ShellNodes {
 protected:
  LevelsTest() {
    Program("ping", "echo '2 packets transmitted, 2 received, 0% packet loss'\n");
    Program("ssh", "exit 0\n");
    // "spark-2-rail1" has the address that the sample gives to that port.
    Program("getent",
            "shift\n"
            "for name do\n"
            "  rail=${name##*-rail}; node=${name#spark-}\n"
            "  echo \"192.168.$((177 + rail)).${node%%-*} STREAM $name\"\n"
            "done\n");
  }

  Report RunVerify(Sample sample, const std::map<NodeName, FakeNode>& odd = {}) {
    std::map<NodeName, FakeNode> nodes;
    for (NodeSpec& node : sample.cluster.nodes) {
      node.access.user = user_;
      nodes[node.name].shell = [this](const std::string& script) { return Run(script); };
    }
    for (const auto& [name, node] : odd) nodes[name] = node;
    FakeNetwork network(std::move(nodes));
    NodePool pool(network.Dialer());
    Report report = Verify(sample.cluster, sample.fabric, sample.facts, pool, options_,
                           [this](const NodeName& node, std::string_view what) {
                             events_.push_back(fmt::format("{} {}", node, what));
                           });
    for (const NodeSpec& node : sample.cluster.nodes) {
      scripts_ += network.ListScripts(node.name).size();
    }
    return report;
  }

  VerifyOptions options_;
  std::vector<std::string> events_;
  std::size_t scripts_ = 0;
};

TEST_F(LevelsTest, AHealthyClusterPassesWithOneScriptPerNode) {
  const Report report = RunVerify(OnSwitch(3));
  EXPECT_EQ(FindExitCode(report), 0);
  EXPECT_EQ(report.Count(Outcome::kPass), 39u + 12u + 12u);
  EXPECT_EQ(report.checks.size(), 63u);
  EXPECT_EQ(scripts_, 3u);
  EXPECT_THAT(events_, testing::UnorderedElementsAre("spark-1 measured", "spark-2 measured",
                                                     "spark-3 measured"));
}

TEST_F(LevelsTest, ANameThatLeadsElsewhereIsAWarningOfItsNodeAndOfNoPath) {
  Program("getent", "shift; for name do echo \"10.9.0.9 STREAM $name\"; done\n");
  const Report report = RunVerify(OnSwitch(2));
  EXPECT_EQ(FindExitCode(report), 0);
  EXPECT_THAT(Brief(report.findings),
              ElementsAre("host-name-wrong spark-1 x2", "host-name-wrong spark-2 x2"));
  EXPECT_THAT(RenderReport(report), testing::HasSubstr("spark-1  -        ok ok\n"));
}

TEST_F(LevelsTest, CountersThatGrewStandWithTheirNodesFactsAndChangeNoExitCode) {
  // Both netdevs of a cage report the cage's counters.
  Program("ethtool",
          "echo >>\"$D/reads\"; echo \"     rx_discards_phy: $(wc -l <\"$D/reads\")\"\n");
  const Report report = RunVerify(OnSwitch(2));
  EXPECT_EQ(FindExitCode(report), 0);
  std::vector<std::string> places;
  for (const Check& check : report.checks) {
    if (check.what == "memlock" || check.what == "errors") {
      places.push_back(fmt::format("{} {} {}", check.from, check.what, ToString(check.outcome)));
    }
  }
  EXPECT_THAT(places,
              ElementsAre("spark-1 memlock pass", "spark-1 errors warn", "spark-1 errors warn",
                          "spark-2 memlock pass", "spark-2 errors warn", "spark-2 errors warn"));
  EXPECT_THAT(Brief(report.findings), ElementsAre("errors-grew spark-1 rail0 rail1 x2",
                                                  "errors-grew spark-2 rail0 rail1 x2"));
}

TEST_F(LevelsTest, TheSameClusterGivesTheSameReport) {
  const Report first = RunVerify(OnSwitch(3));
  EXPECT_EQ(first, RunVerify(OnSwitch(3)));
}

TEST_F(LevelsTest, ALostRailIsNamedWithItsPair) {
  Program(
      "ping",
      "case \"$*\" in *'-I enP2p1s0f1np1'*) echo '2 packets transmitted, 0 received'; exit 1 ;; "
      "esac\necho '2 packets transmitted, 2 received'\n");
  const Report report = RunVerify(OnSwitch(2));
  EXPECT_EQ(FindExitCode(report), 6);
  EXPECT_THAT(Brief(report.findings), ElementsAre("no-path spark-1 spark-2 rail1 x2"));
}

TEST_F(LevelsTest, AnUnreachableNodeLeavesTheOthersComplete) {
  Program(
      "ping",
      "case \"$*\" in *192.168.17[78].2) echo '2 packets transmitted, 0 received'; exit 1 ;; esac\n"
      "echo '2 packets transmitted, 2 received'\n");
  Program("ssh",
          "case \"$*\" in *spark-2-*|*' 192.168.17'[78]'.2 true')\n"
          "  echo 'Connection timed out' >&2; exit 255 ;;\n"
          "esac\n");
  Sample sample = OnSwitch(3);
  sample.Lose(2);
  const Report report = RunVerify(sample);
  EXPECT_EQ(FindExitCode(report), 3);
  EXPECT_EQ(report.Count(Outcome::kFail), 0u);
  EXPECT_EQ(report.Count(Outcome::kPass), 26u + 4u + 4u);
  EXPECT_EQ(report.unreachable.at("spark-2"), "spark-2: no connection within 10 s");
  EXPECT_THAT(Brief(report.findings), ElementsAre("node-unreachable spark-2 x29"));
  EXPECT_EQ(scripts_, 2u);
}

TEST_F(LevelsTest, ACableToANodeThatIsOffIsNotAFault) {
  Program("ping", "echo '2 packets transmitted, 0 received'; exit 1\n");
  Program("ssh", "echo 'Connection timed out' >&2; exit 255\n");
  Sample sample = OnSwitch(2);
  sample.Link(1, 0).carrier = sample.Link(1, 1).carrier = false;
  sample.Lose(2);
  const Report report = RunVerify(sample);
  EXPECT_EQ(FindExitCode(report), 3);
  EXPECT_THAT(Brief(report.findings), ElementsAre("node-unreachable spark-2 x23"));
  EXPECT_EQ(report.findings[0].cause,
            "its peers hear nothing from spark-2 either: off, booting or hung");
  // As networkd leaves a port without signal; with signal it is a fault of its own.
  sample.Link(1, 0).ipv4.clear();
  sample.Link(1, 1).ipv4.clear();
  EXPECT_THAT(Brief(RunVerify(sample).findings), ElementsAre("node-unreachable spark-2 x25"));
  sample.Link(1, 0).carrier = true;
  const Report lit = RunVerify(sample);
  EXPECT_EQ(FindExitCode(lit), 6);
  EXPECT_EQ(lit.findings.back().code, "address-missing");
}

TEST_F(LevelsTest, ANodeThatIsLostOnTheWayIsUnreachableToo) {
  FakeNode gone;
  gone.refuse_dial = "no route to host";
  const Report report = RunVerify(OnSwitch(3), {{"spark-3", gone}});
  EXPECT_EQ(FindExitCode(report), 3);
  EXPECT_THAT(report.unreachable.at("spark-3"), testing::HasSubstr("no route to host"));
  // Its facts were read, its 4 pings and 4 logins were not; its peers hear it well.
  EXPECT_THAT(Brief(report.findings), ElementsAre("node-unreachable spark-3 x8"));
  EXPECT_EQ(report.findings[0].evidence.size(), 4u);
  EXPECT_THAT(events_, testing::Contains("spark-3 gave no answer"));
}

TEST_F(LevelsTest, ALimitThatPassesIsReportedAndEndsTheWait) {
  FakeNode slow;
  slow.shell = [](const std::string&) { return ScriptReply{}; };
  slow.latency = std::chrono::hours(1);
  const Report report = RunVerify(OnSwitch(2), {{"spark-1", slow}});
  EXPECT_EQ(FindExitCode(report), 3);
  EXPECT_TRUE(report.unreachable.contains("spark-1"));
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].code, "node-unreachable");
}

TEST_F(LevelsTest, AFactAloneFailsWithoutAnyScript) {
  options_.up_to = VerifyLevel::kFacts;
  Sample sample = OnSwitch(2);
  sample.Link(1, 0).mtu = 1500;
  const Report report = RunVerify(sample);
  EXPECT_EQ(FindExitCode(report), 6);
  EXPECT_EQ(scripts_, 0u);
  EXPECT_EQ(report.level, VerifyLevel::kFacts);
  EXPECT_EQ(report.checks.size(), 26u);
}

TEST_F(LevelsTest, NcclIsLeftOutWhereSomethingBelowItFails) {
  options_ = {.up_to = VerifyLevel::kNccl, .rdma = {.leave_out = true}};
  const auto why = [](const Report& report) {
    EXPECT_EQ(report.checks.back().what, "nccl-run");
    EXPECT_EQ(report.checks.back().outcome, Outcome::kSkipped);
    EXPECT_EQ(report.nccl, std::nullopt);
    return report.checks.back().why;
  };
  Sample lost = OnSwitch(3);
  lost.Lose(2);
  EXPECT_EQ(why(RunVerify(lost)), "spark-2 could not be reached");
  Program(
      "ping",
      "case \"$*\" in *'-I enP2p1s0f1np1'*) echo '2 packets transmitted, 0 received'; exit 1 ;; "
      "esac\necho '2 packets transmitted, 2 received'\n");
  EXPECT_EQ(why(RunVerify(OnSwitch(2))), "pings between spark-1 and spark-2 fail");
}

Sample GiveDevices(Sample sample) {
  for (auto& [name, facts] : sample.facts.nodes) {
    facts.rdma.hcas = 2;
    for (const RailPort& port : sample.fabric.ports.at(name)) {
      HcaFact& hca = facts.hcas["hca-" + port.netdev];
      hca.netdev = port.netdev;
    }
  }
  return sample;
}

TEST_F(LevelsTest, LevelAutoEndsWithTheLinksWhereANodeHasNoRdmaDevice) {
  options_ = {.up_to = VerifyLevel::kNccl, .automatic = true};
  Sample sample = OnSwitch(2);
  for (auto& [name, facts] : sample.facts.nodes) facts.rdma.hcas = 0;
  const Report report = RunVerify(sample);
  EXPECT_EQ(FindExitCode(report), 0);
  EXPECT_EQ(report.level, VerifyLevel::kSsh);
  EXPECT_EQ(report.not_measured,
            (NotMeasured{VerifyLevel::kRdma, "no RDMA device on spark-1, spark-2"}));
  EXPECT_THAT(RenderReport(report),
              testing::EndsWith("0 could not be measured, 0 skipped\n"
                                "bandwidth not measured: no RDMA device on spark-1, spark-2\n"));
}

TEST_F(LevelsTest, LevelAutoLeavesOutTheNcclRunWithoutAProgramForTheMachine) {
  options_ = {.up_to = VerifyLevel::kNccl, .automatic = true};
  options_.nccl.programs = "/nonexistent";
  FakeNode node;
  node.shell = [this](const std::string& script) {
    return script.find("PATH=") != std::string::npos ? Run(script) : ScriptReply{.out = "riscv64"};
  };
  const Report report = RunVerify(GiveDevices(OnSwitch(2)), {{"spark-1", node}, {"spark-2", node}});
  EXPECT_EQ(
      report.not_measured,
      (NotMeasured{VerifyLevel::kNccl,
                   "there is no spark-verify for the machine type of spark-1 (spark-1: wanted "
                   "the program /nonexistent/spark-verify-riscv64 for a node of type riscv64, "
                   "found none)"}));
  EXPECT_EQ(report.level, VerifyLevel::kRdma);
  EXPECT_THAT(RenderReport(report),
              testing::HasSubstr("\nNCCL not run: there is no spark-verify for the machine type"));
  for (const Check& check : report.checks) {
    if (check.level != VerifyLevel::kNccl) continue;
    EXPECT_EQ(check.outcome, Outcome::kSkipped);
  }
}

Sample NameAnImage(Sample sample) {
  Value images;
  images.data = std::vector<Value>{Map({Entry("image", Text("a:1"))})};
  sample.cluster.settings = Map({Entry("checks", images)});
  return sample;
}

// Of the checks about images: "image-nccl spark-1 pass: NCCL 2.28.9 (/l)".
std::vector<std::string> DescribeImages(const Report& report) {
  std::vector<std::string> texts;
  for (const Check& check : report.checks) {
    if (!check.what.starts_with("image")) continue;
    texts.push_back(fmt::format("{} {} {}: {}{}", check.what, check.from, ToString(check.outcome),
                                check.measured, check.why));
  }
  return texts;
}

TEST_F(LevelsTest, ImagesThatTheManifestNamesAreLookedIntoByAScriptOfTheirOwn) {
  Program("docker",
          "case $1 in\n"
          "  run) echo \"$*\" >>\"$D/runs\"\n"
          "    printf 'memlock unlimited\\nnccl /l\\nNCCL version 2.28.9\\nend\\n' ;;\n"
          "esac\n");
  options_.image_flags = [](const NodeSpec& node) -> Result<std::string> {
    return "--network=host\n--env=NODE=" + node.name + "\n";
  };
  const Report report = RunVerify(NameAnImage(OnSwitch(2)));
  EXPECT_EQ(FindExitCode(report), 0);
  EXPECT_EQ(scripts_, 4u);
  EXPECT_THAT(DescribeImages(report), ElementsAre("image-memlock spark-1 pass: unlimited",
                                                  "image-nccl spark-1 pass: NCCL 2.28.9 (/l)",
                                                  "image-memlock spark-2 pass: unlimited",
                                                  "image-nccl spark-2 pass: NCCL 2.28.9 (/l)"));
  EXPECT_THAT(Get("runs"), testing::HasSubstr(" --network=none --env=NODE=spark-1 --entrypoint"));
  options_.up_to = VerifyLevel::kFacts;
  scripts_ = 0;
  EXPECT_THAT(DescribeImages(RunVerify(NameAnImage(OnSwitch(2)))), testing::IsEmpty());
  EXPECT_EQ(scripts_, 0u);
}

TEST_F(LevelsTest, ImagesOfANodeThatIsLostBelongToItsFinding) {
  Sample sample = NameAnImage(OnSwitch(2));
  sample.Lose(2);
  Program("docker", "exit 1\n");
  const Report report = RunVerify(sample);
  EXPECT_THAT(DescribeImages(report),
              ElementsAre("image spark-1 warn: `docker version` ended with 1",
                          "image spark-2 could-not-measure: spark-2 could not be reached"));
  std::vector<std::string> codes;
  for (const Finding& finding : report.findings) codes.push_back(finding.code);
  EXPECT_THAT(codes, testing::IsSupersetOf({"node-unreachable", "image-not-started"}));
  EXPECT_THAT(codes, testing::Not(testing::Contains("no-answer")));
}

TEST_F(LevelsTest, WithoutTheFlagsOfAContainerNoneIsStarted) {
  options_.image_flags = [](const NodeSpec&) -> Result<std::string> {
    return Fail({.kind = ErrorKind::kProbe, .message = "the HCA has no name"});
  };
  const Report report = RunVerify(NameAnImage(OnSwitch(2)));
  EXPECT_EQ(scripts_, 2u);
  EXPECT_THAT(DescribeImages(report),
              testing::Contains("image spark-1 skipped: the flags of a container are not known: "
                                "the HCA has no name"));
}

TEST_F(LevelsTest, RailsThatAreNotToBeWrittenToAreSkipped) {
  options_ = {.up_to = VerifyLevel::kRdma, .rdma = {.leave_out = true}};
  const Report report = RunVerify(OnSwitch(2));
  EXPECT_EQ(FindExitCode(report), 0);
  for (const Check& check : report.checks) {
    if (check.level != VerifyLevel::kRdma) continue;
    EXPECT_EQ(check.outcome, Outcome::kSkipped);
    EXPECT_EQ(check.why, "left out, as requested");
  }
}

TEST_F(LevelsTest, ALinkLocalRailIsPingedByIpv6AtTheSameSize) {
  Program("ping",
          "echo \"$*\" >>\"$D/pings\"\n"
          "echo '2 packets transmitted, 2 received, 0% packet loss'\n");
  Sample sample = OnSwitch(2);
  MakeLinkLocal(sample, 1);
  const Report report = RunVerify(sample);
  EXPECT_EQ(FindExitCode(report), 0);
  EXPECT_THAT(report.findings, testing::IsEmpty());
  const std::string pings = Get("pings");
  EXPECT_THAT(pings, testing::HasSubstr(
                         "-n -M do -s 8972 -c 2 -i 0.2 -W 1 -I enp1s0f1np1 192.168.177.2\n"));
  EXPECT_THAT(pings, testing::HasSubstr("-n -M do -s 8952 -c 2 -i 0.2 -W 1 -I enP2p1s0f1np1 "
                                        "fe80::2%enP2p1s0f1np1\n"));
  EXPECT_THAT(pings, testing::HasSubstr("-I enP2p1s0f1np1 fe80::1%enP2p1s0f1np1\n"));
}

TEST_F(LevelsTest, ALinkLocalRailWithoutAnAddressKeepsNcclFromRunning) {
  options_.up_to = VerifyLevel::kNccl;
  options_.rdma.leave_out = true;
  Sample sample = OnSwitch(2);
  MakeLinkLocal(sample, 1);
  sample.Link(2, 1).ipv4.clear();
  const Report report = RunVerify(sample);
  EXPECT_THAT(Brief(report.findings), ElementsAre("address-missing spark-2 rail1 x1"));
  const Check& nccl = report.checks.back();
  EXPECT_EQ(nccl.what, "nccl-run");
  EXPECT_EQ(nccl.outcome, Outcome::kSkipped);
  EXPECT_EQ(nccl.why, "spark-2 has no link-local address on rail1");
}

}  // namespace
}  // namespace reconciler
