#include "plugins/nccl/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/fabric/link_local.h"
#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(NcclDiagnose, ManifestsVariableThatTheLibraryLacksIsFound) {
  NcclScenario scenario({{"env", Env({{"NCCL_NET_MERGE_POLICY", test::Text("RAIL")}})}});
  NcclScenario::AddLibrary(scenario.facts, "2.28.9", "NCCL_IB_HCA");
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("NCCL_NET_MERGE_POLICY: NCCL 2.28.9 (/usr/lib/libnccl.so.2) has no such "
                          "variable and ignores it: it came with 2.30.5"));
  EXPECT_THAT(scenario.DiagnosticCodes(Severity::kWarns), ElementsAre("nccl-variable-wrong"));
}

TEST(NcclDiagnose, ListThatNamesNothingOfTheNodeIsFound) {
  const auto about = [](const char* name, const char* list) {
    return NcclScenario({{"env", Env({{name, test::Text(list)}})}}).Warnings();
  };
  EXPECT_THAT(
      about("NCCL_IB_HCA", "=mlx5_9"),
      ElementsAre("NCCL_IB_HCA: names no HCA that the node has: it has rocep1s0f0, roceP2p1s0f0, "
                  "rocep1s0f1, roceP2p1s0f1: remove it: the fabric defines it for each node"));
  EXPECT_THAT(
      about("NCCL_IB_HCA", "=rocep1s0f0"),
      ElementsAre("NCCL_IB_HCA: names no HCA of the node that leads to all others: those are "
                  "rocep1s0f1, roceP2p1s0f1: remove it: the fabric defines it for each node"));
  EXPECT_THAT(about("NCCL_IB_HCA", "=rocep1s0f1:1"), IsEmpty());
  EXPECT_THAT(about("NCCL_IB_HCA", "^=rocep1s0f0,roceP2p1s0f0"), IsEmpty());
  EXPECT_THAT(about("NCCL_SOCKET_IFNAME", "=eth9,enP7s7"), IsEmpty());
  EXPECT_THAT(about("NCCL_SOCKET_IFNAME", "=eth9"),
              ElementsAre(HasSubstr("NCCL_SOCKET_IFNAME: names no interface that the node has: it "
                                    "has enP2p1s0f0np0, ")));
  EXPECT_THAT(about("GLOO_SOCKET_IFNAME", "enP7"), testing::SizeIs(1));
  EXPECT_THAT(about("GLOO_SOCKET_IFNAME", "enP7s7"), IsEmpty());
  EXPECT_THAT(NcclScenario({{"env", Env({{"NCCL_IB_HCA", test::Text("=mlx5_9")}})}})
                  .DiagnosticCodes(Severity::kWarns),
              ElementsAre("nccl-variable-wrong"));
}

TEST(NcclDiagnose, ListThatLeavesOutACableOfARingIsFound) {
  NcclScenario scenario({{"env", Env({{"NCCL_IB_HCA", test::Text("=rocep1s0f0,roceP2p1s0f0")}})}});
  scenario.MakeRing();
  NcclScenario::AddLibrary(scenario.facts, "2.30.7", "NCCL_IB_HCA NCCL_IB_SUBNET_AWARE_ROUTING");
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("NCCL_IB_HCA: leaves out rocep1s0f1, roceP2p1s0f1, and each cable leads "
                          "to another neighbour: remove it: the fabric defines it for each node"));
}

TEST(NcclDiagnose, LibraryOfTheManifestThatIsNotThereIsFound) {
  NcclScenario scenario({{"library", test::Text("/opt/nccl/libnccl.so.2")}});
  EXPECT_THAT(
      scenario.Warnings(),
      ElementsAre("library: /opt/nccl/libnccl.so.2 is not there: install it there, or correct "
                  "nccl.library"));
}

TEST(NcclDiagnose, AnOlderLibraryThanThePackageOfTheManifestIsFound) {
  NcclScenario scenario({{"library", test::Text("package 2.28.9-1+cuda13.0")}});
  NcclScenario::AddLibrary(scenario.facts, "2.27.7", "NCCL_IB_HCA");
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("library: wanted 2.28.9-1+cuda13.0 or later, and programs load NCCL "
                          "2.27.7 (/usr/lib/libnccl.so.2): remove that library, or what makes the "
                          "loader prefer it: ldconfig -p shows them"));
  NcclScenario::AddLibrary(scenario.facts, "2.28.9", "NCCL_IB_HCA");
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
}

TEST(NcclDiagnose, NodeThatIsBehindTheOthersIsFound) {
  NcclScenario scenario;
  NcclScenario::AddLibrary(scenario.facts, "2.28.9", "NCCL_IB_HCA");
  NcclScenario::AddLibrary(scenario.all.nodes["spark-2"], "2.30.7", "NCCL_IB_HCA");
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("library version: NCCL 2.28.9 (/usr/lib/libnccl.so.2), and spark-2 has "
                          "2.30.7: install one version on all nodes"));
  NcclScenario::AddLibrary(scenario.facts, "2.30.10", "NCCL_IB_HCA");
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
}

// What stands at index 3 of the first HCA.
std::vector<std::string> AtIndex3(const Observed<std::string>& type, const std::string& gid) {
  NcclScenario scenario({{"gid_index", test::Number(3)}});
  const std::string folder = "/sys/class/infiniband/rocep1s0f1/ports/1/";
  ProbeReply reply;
  reply.values[folder + "gid_attrs/types/3"] = type;
  reply.values[folder + "gids/3"] = gid;
  reply.values["/sys/class/infiniband/roceP2p1s0f1/ports/1/gids/3"] = Absent{};
  Get().parse(reply, scenario.facts);
  EXPECT_THAT(scenario.DiagnosticCodes(Severity::kWarns), testing::Each("nccl-gid-index-wrong"));
  return scenario.Warnings();
}

TEST(NcclDiagnose, PinnedGidIndexMustBeTheHcasIpv4Address) {
  EXPECT_THAT(AtIndex3("RoCE v2", "0000:0000:0000:0000:0000:ffff:c0a8:b101"), IsEmpty());
  EXPECT_THAT(AtIndex3("IB/RoCE v1", "0000:0000:0000:0000:0000:ffff:c0a8:b101"),
              ElementsAre("gid_index on rocep1s0f1: wanted RoCE v2 of 192.168.177.1 at index 3, "
                          "found IB/RoCE v1 of 0000:0000:0000:0000:0000:ffff:c0a8:b101: remove "
                          "gid_index, and NCCL finds it automatically"));
  EXPECT_THAT(AtIndex3("RoCE v2", "fe80:0000:0000:0000:0200:00ff:fe00:0001"), Not(IsEmpty()));
  EXPECT_THAT(AtIndex3(Unknown{"Invalid argument"}, "0000:0000:0000:0000:0000:0000:0000:0000"),
              ElementsAre("gid_index on rocep1s0f1: wanted RoCE v2 of 192.168.177.1 at index 3, "
                          "found nothing: remove gid_index, and NCCL finds it automatically"));
}

// One line of a file of the node, and what the plan says about it.
NcclScenario WithLine(const std::string& path, const std::string& line,
                      const std::string& of_peer) {
  NcclScenario scenario({{"env", Env({{"NCCL_DEBUG", test::Text("WARN")}})}});
  const auto store = [](NodeFacts& facts, const std::string& where, const std::string& text) {
    CommandReply reply{.out = where};
    reply.out.push_back('\0');
    reply.out += "7:" + text + "\n";
    Get().parse({.commands = {{"nccl.settings", reply}}}, facts);
  };
  store(scenario.facts, path, line);
  if (!of_peer.empty()) store(scenario.all.nodes["spark-2"], path, of_peer);
  return scenario;
}

std::vector<std::string> About(const std::string& path, const std::string& line,
                               const std::string& of_peer = "") {
  return WithLine(path, line, of_peer).Warnings();
}

// What it has a note of, and no warning.
std::vector<std::string> Noted(const std::string& path, const std::string& line) {
  NcclScenario scenario = WithLine(path, line, "");
  EXPECT_THAT(scenario.Warnings(), IsEmpty()) << line;
  return scenario.Notes();
}

TEST(NcclDiagnose, LeftoverThatNoOneReadsIsANoteWithItsLine) {
  EXPECT_THAT(
      Noted("/etc/nccl.conf", "NCCL_TIMEOUT=1800"),
      ElementsAre("/etc/nccl.conf:7 NCCL_TIMEOUT=1800: no NCCL reads it: a process group "
                  "takes its timeout as an argument; NCCL_IB_TIMEOUT is that of one packet"));
  EXPECT_THAT(Noted("/etc/environment", "NCCL_TIMEOUT=1 NCCL_TIMEOUT=1"), testing::SizeIs(1));
}

TEST(NcclDiagnose, LineOfNcclConfThatSetsAnotherNameIsFound) {
  EXPECT_THAT(
      About("/etc/nccl.conf", "export NCCL_NET=IB"),
      ElementsAre("/etc/nccl.conf:7 export NCCL_NET=IB: nccl.conf takes every byte for what "
                  "it is, so that this sets 'export NCCL_NET': begin the line with the "
                  "name"));
  EXPECT_THAT(
      WithLine("/etc/nccl.conf", "export NCCL_NET=IB", "").DiagnosticCodes(Severity::kWarns),
      ElementsAre("nccl-setting-malformed"));
}

TEST(NcclDiagnose, WordInANumberFieldIsFoundButWhatAShellMakesIsNotJudged) {
  EXPECT_THAT(About("/etc/profile.d/a.sh", "export NCCL_IB_DISABLE=true"),
              ElementsAre("/etc/profile.d/a.sh:7 NCCL_IB_DISABLE=true: wanted a number, found "
                          "'true', which NCCL silently reads as 0: a number from 0 to 1"));
  EXPECT_THAT(About("/etc/profile.d/a.sh", "export NCCL_IB_TC=$TC", "export NCCL_IB_TC=$TC"),
              IsEmpty());
  EXPECT_THAT(Noted("/etc/profile.d/a.sh", "export NCCL_TIMEOUT=$T"), testing::SizeIs(1));
}

// Lines as guides for Sparks have them: https://github.com/NVIDIA/dgx-spark-playbooks,
// https://forums.developer.nvidia.com/t/368025.
TEST(NcclDiagnose, LineThatMeansWhatTheManifestSetsIsSilent) {
  for (const char* line :
       {"export NCCL_DEBUG=WARN", "export NCCL_DEBUG=\"WARN\"",
        "NCCL_DEBUG='warn'; export NCCL_DEBUG", "export NCCL_IB_HCA='=rocep1s0f1,roceP2p1s0f1'",
        "export NCCL_IB_HCA==roceP2p1s0f1,rocep1s0f1", "NCCL_DEBUG=WARN NCCL_DEBUG=WARN"}) {
    NcclScenario scenario = WithLine("/home/nvidia/.bashrc", line, "");
    EXPECT_THAT(scenario.Warnings(), IsEmpty()) << line;
    EXPECT_THAT(scenario.Notes(), IsEmpty()) << line;
  }
  EXPECT_THAT(About("/home/nvidia/.bashrc", "export NCCL_IB_HCA='=rocep1s0f0'"),
              testing::SizeIs(1));
}

TEST(NcclDiagnose, LineThatChangesNothingIsANote) {
  EXPECT_THAT(Noted("/etc/nccl.conf", "export NCCL_DEBUG=WARN"),
              ElementsAre("/etc/nccl.conf:7 export NCCL_DEBUG=WARN: nccl.conf takes every byte for "
                          "what it is, so that this sets 'export NCCL_DEBUG'; the manifest sets "
                          "what it means"));
  EXPECT_THAT(Noted("/etc/nccl.conf", "NCCL_DEBUG=\"WARN\""),
              ElementsAre("/etc/nccl.conf:7 NCCL_DEBUG=\"WARN\": nccl.conf takes every byte for "
                          "what it is, so that this sets '\"WARN\"'; the manifest sets what it "
                          "means"));
  EXPECT_THAT(Noted("/etc/nccl.conf", " # NCCL_DEBUG=INFO"), testing::SizeIs(1));
  EXPECT_THAT(
      Noted("/home/nvidia/.bashrc", "export NCCL_IB_HCA=rocep1s0f1,roceP2p1s0f1"),
      ElementsAre("/home/nvidia/.bashrc:7 NCCL_IB_HCA=rocep1s0f1,roceP2p1s0f1: the manifest "
                  "has =rocep1s0f1,roceP2p1s0f1, which selects the same here"));
  EXPECT_THAT(Noted("/etc/environment", "NCCL_P2P_DISABLE=1"),
              ElementsAre("/etc/environment:7 NCCL_P2P_DISABLE=1: has no effect here: a node has "
                          "one GPU: remove it"));
  EXPECT_THAT(Noted("/etc/environment", "NCCL_IB_DISABLE=no"), testing::SizeIs(1));
  EXPECT_THAT(About("/etc/environment", "NCCL_IB_DISABLE=yes"), testing::SizeIs(1));
  EXPECT_THAT(About("/etc/environment", "NCCL_IB_DISABLE=1"), testing::SizeIs(1));
}

// NCCL 2.30 brought names that no earlier list has, as NCCL_IB_SUBNET_AWARE_ROUTING was one:
// https://docs.nvidia.com/deeplearning/nccl/release-notes/
TEST(NcclDiagnose, VariableThatIsNewerThanOurListIsANote) {
  const char* line = "export NCCL_FABRIC_OF_TOMORROW=1";
  EXPECT_THAT(
      Noted("/etc/profile.d/a.sh", line),
      ElementsAre("/etc/profile.d/a.sh:7 NCCL_FABRIC_OF_TOMORROW=1: no NCCL that is known "
                  "here has such a variable: remove it, unless the NCCL of your programs is "
                  "newer and reads it"));
  NcclScenario scenario({{"env", Env({{"NCCL_FABRIC_OF_TOMORROW", test::Text("1")}})}});
  EXPECT_THAT(scenario.Check(), IsEmpty());
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
  EXPECT_THAT(scenario.Notes(), testing::SizeIs(1));
  NcclScenario::AddLibrary(scenario.facts, "2.31.0", "NCCL_IB_HCA NCCL_FABRIC_OF_TOMORROW");
  EXPECT_THAT(scenario.Notes(), IsEmpty());
  NcclScenario::AddLibrary(scenario.facts, "2.28.9", "NCCL_IB_HCA");
  EXPECT_THAT(scenario.Warnings(), testing::SizeIs(1));
}

TEST(NcclDiagnose, NameNearToAKnownOneStaysAMistake) {
  EXPECT_THAT(About("/etc/profile.d/a.sh", "export NCCL_DEBGU=INFO"),
              ElementsAre(HasSubstr("did you mean 'NCCL_DEBUG'?")));
  EXPECT_THAT(NcclScenario({{"env", Env({{"NCCL_DEBGU", test::Text("INFO")}})}}).Check(),
              testing::SizeIs(1));
}

TEST(NcclDiagnose, SettingThatFightsTheManifestsSaysWhoWins) {
  EXPECT_THAT(
      About("/etc/nccl.conf", "NCCL_DEBUG=INFO"),
      ElementsAre("/etc/nccl.conf:7 NCCL_DEBUG=INFO: the manifest has WARN: the environment "
                  "overrides this line; where it is not set, this line wins: remove it there"));
  EXPECT_THAT(
      About("/home/nvidia/.bashrc", "export NCCL_DEBUG=INFO"),
      ElementsAre("/home/nvidia/.bashrc:7 NCCL_DEBUG=INFO: the manifest has WARN: this is read "
                  "after /etc/profile.d/60-spark-reconcile-nccl.sh and wins: remove it there"));
  EXPECT_THAT(About("/etc/profile.d/nccl.sh", "export NCCL_DEBUG=INFO"),
              ElementsAre(HasSubstr("this is read after")));
  EXPECT_THAT(About("/etc/profile.d/10-nccl.sh", "export NCCL_DEBUG=INFO"),
              ElementsAre(HasSubstr("this wins where")));
  EXPECT_THAT(
      About("/etc/environment", "NCCL_DEBUG=INFO"),
      ElementsAre("/etc/environment:7 NCCL_DEBUG=INFO: the manifest has WARN: this wins where "
                  "/etc/profile.d/60-spark-reconcile-nccl.sh is not read: remove it there"));
  EXPECT_THAT(
      About("/etc/systemd/system/vllm.service", "Environment=NCCL_DEBUG=INFO"),
      ElementsAre(
          "/etc/systemd/system/vllm.service:7 NCCL_DEBUG=INFO: the manifest has WARN: this wins in "
          "units without EnvironmentFile=/etc/spark-reconcile/nccl.env: remove it there"));
  EXPECT_THAT(About("/etc/environment", "NCCL_DEBUG=WARN"), IsEmpty());
  EXPECT_THAT(WithLine("/etc/nccl.conf", "NCCL_DEBUG=INFO", "").DiagnosticCodes(Severity::kWarns),
              ElementsAre("nccl-setting-contradicts"));
}

// The lines of a guide for another machine name the interfaces of all libraries at once.
TEST(NcclDiagnose, LineOfAnotherLibraryThatFightsTheManifestsSaysWhoWins) {
  EXPECT_THAT(About("/home/nvidia/.bashrc", "export UCX_NET_DEVICES=enp1s0f0np0"),
              ElementsAre("/home/nvidia/.bashrc:7 UCX_NET_DEVICES=enp1s0f0np0: the manifest has "
                          "rocep1s0f1:1,roceP2p1s0f1:1,enP7s7: this is read after "
                          "/etc/profile.d/60-spark-reconcile-nccl.sh and wins: remove it there"));
  EXPECT_THAT(
      About("/etc/environment", "OMPI_MCA_btl_tcp_if_include=192.168.177.0/24"),
      ElementsAre("/etc/environment:7 OMPI_MCA_btl_tcp_if_include=192.168.177.0/24: the "
                  "manifest has enP7s7: this wins where "
                  "/etc/profile.d/60-spark-reconcile-nccl.sh is not read: remove it there"));
  EXPECT_THAT(WithLine("/etc/environment", "GLOO_SOCKET_IFNAME=enp1s0f1np1", "")
                  .DiagnosticCodes(Severity::kWarns),
              ElementsAre("nccl-setting-contradicts"));
}

TEST(NcclDiagnose, LineOfAnotherLibraryThatMeansWhatTheManifestSetsIsSilent) {
  for (const char* line : {"export GLOO_SOCKET_IFNAME=enP7s7", "TP_SOCKET_IFNAME='enP7s7'",
                           "UCX_NET_DEVICES=enP7s7,roceP2p1s0f1:1,rocep1s0f1:1"}) {
    NcclScenario scenario = WithLine("/home/nvidia/.bashrc", line, "export EDITOR=vi");
    EXPECT_THAT(scenario.Warnings(), IsEmpty()) << line;
    EXPECT_THAT(scenario.Notes(), IsEmpty()) << line;
  }
}

TEST(NcclDiagnose, FileThatNoLoginShellReadsAfterOursWinsElsewhereOnly) {
  for (const char* path : {"/home/nvidia/.zshrc", "/home/nvidia/.bash_login"}) {
    EXPECT_THAT(About(path, "NCCL_DEBUG=INFO"), ElementsAre(HasSubstr("this is read after")))
        << path;
  }
  for (const char* path :
       {"/home/nvidia/.zshenv", "/etc/zsh/zshenv", "/home/nvidia/.config/environment.d/gpu.conf"}) {
    EXPECT_THAT(About(path, "NCCL_DEBUG=INFO"), ElementsAre(HasSubstr("this wins where"))) << path;
  }
}

TEST(NcclDiagnose, PinnedGidIndexOfALeftoverIsFound) {
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_IB_GID_INDEX=3", "NCCL_IB_GID_INDEX=3"),
              ElementsAre("/etc/nccl.conf:7 NCCL_IB_GID_INDEX=3: one index for all HCAs, and each "
                          "HCA's own moves: NCCL finds it automatically: remove it there"));
  EXPECT_THAT(WithLine("/etc/nccl.conf", "NCCL_IB_GID_INDEX=3", "NCCL_IB_GID_INDEX=3")
                  .DiagnosticCodes(Severity::kWarns),
              ElementsAre("nccl-setting-wrong"));
}

TEST(NcclDiagnose, SettingThatDiffersBetweenRanksIsFound) {
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_PROTO=LL", "NCCL_PROTO=Simple"),
              ElementsAre("/etc/nccl.conf:7 NCCL_PROTO=LL: spark-2 has Simple: ranks that differ "
                          "hang: put it into nccl.env of the manifest, or remove it"));
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_PROTO=LL"),
              ElementsAre("/etc/nccl.conf:7 NCCL_PROTO=LL: spark-2 has none: ranks that differ "
                          "hang: put it into nccl.env of the manifest, or remove it"));
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_PROTO=LL", "NCCL_PROTO=LL"), IsEmpty());
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_RAS_ENABLE=0"), IsEmpty());
  EXPECT_THAT(WithLine("/etc/nccl.conf", "NCCL_PROTO=LL", "NCCL_PROTO=Simple")
                  .DiagnosticCodes(Severity::kWarns),
              ElementsAre("nccl-setting-differs"));
}

TEST(NcclDiagnose, PeerThatWasNotReadAccusesNoOne) {
  NcclScenario scenario;
  scenario.facts.nccl.settings =
      std::vector<NcclSetting>{{"/etc/nccl.conf", 7, "NCCL_PROTO", "LL"}};
  scenario.all.nodes.erase("spark-2");
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
}

TEST(NcclDiagnose, SecretsBesideAVariableAreNotKept) {
  NodeFacts facts;
  CommandReply reply{.out = "/etc/systemd/system/a.service"};
  reply.out.push_back('\0');
  reply.out += "3:Environment=HF_TOKEN=hf_abc NCCL_DEBUG=INFO\n";
  Get().parse({.commands = {{"nccl.settings", reply}}}, facts);
  EXPECT_THAT(*Known(facts.nccl.settings),
              ElementsAre(NcclSetting{"/etc/systemd/system/a.service", 3, "NCCL_DEBUG", "INFO"}));
}

TEST(NcclDiagnose, APinnedGidOfALinkLocalRailIsThatOfAnySuchAddress) {
  const auto diagnose = [](const std::string& address) {
    NcclScenario scenario({{"gid_index", test::Number(3)}});
    RailPort& port = scenario.fabric.ports["spark-1"][0];
    port.address = kLinkLocalSubnet;
    scenario.facts.nccl.gids["rocep1s0f1"] = {.gid = MakeMappedGid(*ParseIpv4(address)),
                                              .type = std::string(kRoceV2)};
    return scenario.Warnings();
  };
  EXPECT_THAT(diagnose("169.254.7.9"), IsEmpty());
  EXPECT_THAT(diagnose("192.168.177.1"),
              ElementsAre(testing::HasSubstr(
                  "gid_index on rocep1s0f1: wanted RoCE v2 of a link-local address at index 3")));
}

}  // namespace
}  // namespace reconciler::plugins::nccl
