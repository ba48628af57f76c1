#include "plugins/nccl/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(Nccl, ManifestWithoutItReadsAndHoldsNothing) {
  NcclScenario scenario;
  scenario.cluster.settings = test::Map({});
  EXPECT_TRUE(
      Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes.front()).empty());
  EXPECT_TRUE(scenario.Wanted().empty());
  EXPECT_TRUE(scenario.Check().empty());
}

TEST(Nccl, PairGetsItsHcasItsBootstrapAndItsMode) {
  NcclScenario scenario({{"env", Env({{"NCCL_DEBUG", test::Text("WARN")}})}});
  EXPECT_THAT(
      scenario.Variables(),
      ElementsAre("NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1", "NCCL_SOCKET_IFNAME==enP7s7",
                  "GLOO_SOCKET_IFNAME=enP7s7", "TP_SOCKET_IFNAME=enP7s7",
                  "OMPI_MCA_oob_tcp_if_include=enP7s7", "OMPI_MCA_btl_tcp_if_include=enP7s7",
                  "UCX_NET_DEVICES=rocep1s0f1:1,roceP2p1s0f1:1,enP7s7", "NCCL_NET_GDR_LEVEL=LOC",
                  "NCCL_DEBUG=WARN"));
  EXPECT_THAT(scenario.Body(kShellFile),
              HasSubstr("# the HCAs that have a cable; '=' because names match by prefix\n"
                        "export NCCL_IB_HCA='=rocep1s0f1,roceP2p1s0f1'\n"));
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
}

TEST(Nccl, FilesThatHoldLeaveNothingToDoAndEditsAreDrift) {
  NcclScenario scenario;
  for (const std::string_view path : {kShellFile, kServiceFile}) {
    scenario.facts.files[std::string(path)] = FileState{.content = scenario.Body(path)};
  }
  for (const Resource& resource : scenario.Wanted()) {
    EXPECT_FALSE(Diff(resource, "nccl")) << resource.name;
  }
  std::get<FileState>(scenario.facts.files[std::string(kShellFile)]).content +=
      "export NCCL_NET=IB\n";
  EXPECT_TRUE(Diff(scenario.Wanted().front(), "nccl"));
}

TEST(Nccl, ForeignFileOfOurNameIsBlocked) {
  NcclScenario scenario;
  scenario.facts.files[std::string(kServiceFile)] = FileState{.content = "NCCL_DEBUG=INFO\n"};
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("/etc/spark-reconcile/nccl.env: was not written by spark-reconcile: move "
                          "it away, or remove this from the manifest"));
}

TEST(Nccl, WhatCouldNotBeReadBlocksItsFileAndIsWarnedOf) {
  NcclScenario scenario;
  scenario.facts.files[std::string(kServiceFile)] = Unknown{"permission denied"};
  scenario.facts.nccl.settings = Unknown{"more than 64 KiB of lines name NCCL_"};
  scenario.facts.nccl.library = Unknown{"reading libnccl took longer than 20 s"};
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("/etc/spark-reconcile/nccl.env: unknown: permission denied",
                          "library: cannot determine which one programs load: reading libnccl took "
                          "longer than 20 s",
                          "other settings: cannot determine what other files set: more than 64 KiB "
                          "of lines name NCCL_"));
}

TEST(Nccl, NodeWithoutAnInterfaceForBootstrapIsBlocked) {
  NcclScenario scenario;
  scenario.facts.links["enP7s7"].ipv4.clear();
  scenario.facts.session.interface.clear();
  EXPECT_THAT(scenario.Warnings(),
              Contains("/etc/spark-reconcile/nccl.env: cannot determine which interface the other "
                       "nodes reach: none holds '192.168.1.21': write the node's IPv4 address "
                       "there, or NCCL_SOCKET_IFNAME into nccl.env"));
}

TEST(Nccl, ManifestsOwnWordCountsMoreThanTheFabrics) {
  NcclScenario scenario({{"env", Env({{"NCCL_SOCKET_IFNAME", test::Text("=wlP9s9")}})}});
  EXPECT_THAT(scenario.Variables(),
              ElementsAre("NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1", "GLOO_SOCKET_IFNAME=enP7s7",
                          "TP_SOCKET_IFNAME=enP7s7", "OMPI_MCA_oob_tcp_if_include=enP7s7",
                          "OMPI_MCA_btl_tcp_if_include=enP7s7",
                          "UCX_NET_DEVICES=rocep1s0f1:1,roceP2p1s0f1:1,enP7s7",
                          "NCCL_NET_GDR_LEVEL=LOC", "NCCL_SOCKET_IFNAME==wlP9s9"));
}

TEST(Nccl, InterfacesOfOtherProgramsAreLeftToThemWhereTheyCannotBeDetermined) {
  NcclScenario scenario({{"env", Env({{"NCCL_SOCKET_IFNAME", test::Text("=enP7s7")}})}});
  scenario.facts.links["enP7s7"].ipv4.clear();
  scenario.facts.session.interface.clear();
  EXPECT_THAT(scenario.Variables(),
              ElementsAre("NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1", "NCCL_NET_GDR_LEVEL=LOC",
                          "NCCL_SOCKET_IFNAME==enP7s7"));
}

TEST(Nccl, HcaHasTheNameThatTheNodeGivesIt) {
  NcclScenario scenario;
  ProbeReply reply;
  reply.values["/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0"] = "enp1s0f1np1";
  reply.values["/sys/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0"] = Unknown{"no"};
  Get().parse(reply, scenario.facts);
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_IB_HCA==mlx5_0,roceP2p1s0f1"));
}

TEST(Nccl, GidIndexIsPinnedOnlyWhenRequested) {
  NcclScenario requested({{"gid_index", test::Number(3)}});
  EXPECT_THAT(requested.Variables(), Contains("NCCL_IB_GID_INDEX=3"));
  EXPECT_THAT(NcclScenario().Body(kServiceFile), Not(HasSubstr("GID")));
}

TEST(Nccl, PinnedGidIndexIsReadUnderTheNodesOwnName) {
  NcclScenario scenario({{"gid_index", test::Number(3)}});
  std::vector<std::string> patterns;
  for (const Read& read :
       Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0])) {
    if (const auto* values = std::get_if<ReadValues>(&read)) patterns.push_back(values->pattern);
  }
  EXPECT_THAT(patterns, IsSupersetOf({"/sys/class/infiniband/*/ports/1/gid_attrs/types/3",
                                      "/sys/class/infiniband/*/ports/1/gids/3"}));
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  ProbeReply reply;
  reply.values[port + "gid_attrs/ndevs/0"] = "enp1s0f1np1";
  reply.values[port + "gid_attrs/types/3"] = "RoCE v2";
  reply.values[port + "gids/3"] = "0000:0000:0000:0000:0000:ffff:c0a8:b101";
  // What has the profile's name belongs to another port.
  reply.values["/sys/class/infiniband/rocep1s0f1/ports/1/gids/3"] =
      "fe80:0000:0000:0000:0200:00ff:fe00:0001";
  Get().parse(reply, scenario.facts);
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
  reply.values[port + "gid_attrs/types/3"] = "IB/RoCE v1";
  Get().parse(reply, scenario.facts);
  EXPECT_THAT(scenario.Warnings(),
              ElementsAre("gid_index on mlx5_0: wanted RoCE v2 of 192.168.177.1 at index 3, found "
                          "IB/RoCE v1 of 0000:0000:0000:0000:0000:ffff:c0a8:b101: remove "
                          "gid_index, and NCCL finds it automatically"));
}

TEST(Nccl, RingHasAllHcasAndItsOwnVariables) {
  NcclScenario scenario;
  scenario.MakeRing();
  EXPECT_THAT(scenario.Variables(),
              IsSupersetOf({"NCCL_IB_HCA==rocep1s0f0,roceP2p1s0f0,rocep1s0f1,roceP2p1s0f1",
                            "NCCL_IB_MERGE_NICS=0", "NCCL_NET_PLUGIN=none",
                            "NCCL_IB_SUBNET_AWARE_ROUTING=1"}));
  EXPECT_THAT(scenario.Body(kServiceFile),
              HasSubstr("# each cage leads to another neighbour: fused into one device, both would "
                        "fit neither\nNCCL_IB_MERGE_NICS=0\n"));
}

TEST(Nccl, RingWithALibraryThatCannotDoItSaysSoAndSetsNothingInVain) {
  NcclScenario scenario;
  scenario.MakeRing();
  NcclScenario::AddLibrary(scenario.facts, "2.28.9", "NCCL_IB_HCA");
  EXPECT_THAT(scenario.Body(kServiceFile), Not(HasSubstr("SUBNET_AWARE")));
  EXPECT_THAT(
      scenario.Warnings(),
      ElementsAre(
          "library: NCCL 2.28.9 (/usr/lib/libnccl.so.2) cannot pair HCAs by subnet, which cables "
          "without a switch need: install NCCL 2.30.7 or later, or a build patched for it"));
  EXPECT_THAT(scenario.DiagnosticCodes(Severity::kWarns), ElementsAre("nccl-library-too-old"));
  NcclScenario::AddLibrary(scenario.facts, "2.28.9", "NCCL_IB_HCA NCCL_IB_SUBNET_AWARE_ROUTING");
  EXPECT_THAT(scenario.Variables(), Contains("NCCL_IB_SUBNET_AWARE_ROUTING=1"));
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
  scenario.facts.nccl.library = Unknown{"reading libnccl took longer than 20 s"};
  EXPECT_EQ(scenario.Body(kServiceFile), "not known");
}

// An apply reads the node again when the package or the build is there, and may then announce
// nothing new.
TEST(Nccl, WhereTheManifestBringsTheLibraryTheVariablesDoNotDependOnTheOneBefore) {
  for (const char* library : {"package 2.30.7-1", "build v2.30.7-1"}) {
    NcclScenario scenario({{"library", test::Text(library)}});
    scenario.MakeRing();
    NcclScenario::AddLibrary(scenario.facts, "2.28.9", "NCCL_IB_HCA");
    const std::string before = scenario.Body(kServiceFile);
    EXPECT_THAT(before, HasSubstr("\nNCCL_IB_SUBNET_AWARE_ROUTING=1\n")) << library;
    scenario.facts.nccl.library = Unknown{"reading libnccl took longer than 20 s"};
    EXPECT_EQ(scenario.Body(kServiceFile), before) << library;
    NcclScenario::AddLibrary(scenario.facts, "2.30.7", "NCCL_IB_HCA NCCL_IB_SUBNET_AWARE_ROUTING");
    EXPECT_EQ(scenario.Body(kServiceFile), before) << library;
  }
}

// NCCL may be in containers only, which is nothing to complain about at every apply.
TEST(Nccl, RingWithoutAnyLibraryToQueryIsNoFinding) {
  NcclScenario scenario;
  scenario.MakeRing();
  EXPECT_THAT(scenario.Warnings(), IsEmpty());
}

std::vector<std::string> Said(const NcclScenario& scenario) {
  std::vector<std::string> said;
  for (const Error& error : scenario.Check()) said.push_back(error.message + " | " + error.hint);
  return said;
}

TEST(Nccl, ManifestMayNotRevertWhatARingNeeds) {
  NcclScenario scenario({{"env", Env({{"NCCL_ALGO", test::Text("Tree")},
                                      {"NCCL_CUMEM_ENABLE", test::Number(0)},
                                      {"NCCL_IB_MERGE_NICS", test::Number(1)},
                                      {"NCCL_IB_SUBNET_AWARE_ROUTING", test::Number(0)},
                                      {"NCCL_IB_SUBNET_PREFIX_LEN", test::Number(16)},
                                      {"NCCL_NET_PLUGIN", test::Text("ucx")},
                                      {"NCCL_RUNTIME_CONNECT", test::Number(0)}})}});
  scenario.MakeRing();
  scenario.cluster.fabric.ring_collectives_only = true;
  EXPECT_THAT(
      Said(scenario),
      ElementsAre(
          "nccl.env: NCCL_ALGO: wanted Ring on this fabric, found Tree: ring: collectives-only; a "
          "tree or a chain would join nodes that share no cable | remove it",
          "nccl.env: NCCL_CUMEM_ENABLE: wanted 1 on this fabric, found 0: connections are made "
          "when they are first needed, so that none is tried across the ring | remove it",
          "nccl.env: NCCL_IB_MERGE_NICS: wanted 0 on this fabric, found 1: each cage leads to "
          "another neighbour: fused into one device, both would fit neither | remove it",
          "nccl.env: NCCL_IB_SUBNET_AWARE_ROUTING: wanted 1 on this fabric, found 0: pairs the two "
          "HCAs of one cable, by their subnet; from NCCL 2.30.7 | remove it",
          "nccl.env: NCCL_IB_SUBNET_PREFIX_LEN: wanted 24 on this fabric, found 16: the subnets of "
          "cables are /24, and are distinguished by that | remove it",
          "nccl.env: NCCL_NET_PLUGIN: wanted none on this fabric, found ucx: the choice by subnet "
          "is part of NCCL's own transport, not of a plugin's | remove it",
          "nccl.env: NCCL_RUNTIME_CONNECT: wanted 1 on this fabric, found 0: connections across "
          "the ring must not be made at the start | remove it"));
  EXPECT_THAT(scenario.RefusalCodes(), testing::Each("nccl-env-against-fabric"));
}

TEST(Nccl, ManifestMaySayWhatTheRingNeedsAnyway) {
  NcclScenario scenario({{"env", Env({{"NCCL_IB_MERGE_NICS", test::Number(0)}})}});
  scenario.MakeRing();
  EXPECT_THAT(Said(scenario), IsEmpty());
}

TEST(Nccl, FusionMayBeTurnedOffWhereANodeUsesTwoCages) {
  const std::vector<std::pair<std::string, Value>> env = {
      {"env", Env({{"NCCL_IB_MERGE_NICS", test::Number(0)}})}};
  EXPECT_THAT(Said(NcclScenario(env)), testing::SizeIs(1));  // one cable
  NcclScenario two(env);
  for (int id : {1, 2}) {
    RailPort port = test::PairPort(id, 0);
    port.cage = "p0";
    port.rail = 2;
    two.fabric.ports[port.node].push_back(port);
    if (id == 1) two.fabric.segments.push_back({.rail = 2});
    two.fabric.segments.back().ports.push_back(port);
  }
  EXPECT_THAT(Said(two), IsEmpty());
}

TEST(Nccl, WorkstationsAreNotJudgedAsSparks) {
  NcclScenario scenario({{"env", Env({{"NCCL_P2P_DISABLE", test::Number(1)}})}});
  EXPECT_THAT(
      Said(scenario),
      ElementsAre(
          "nccl.env: NCCL_P2P_DISABLE: has no effect here: a node has one GPU | remove it"));
  scenario.cluster.nodes.back().hardware = "connectx5-workstation";
  EXPECT_THAT(Said(scenario), IsEmpty());
}

TEST(Nccl, CableBesideASwitchIsNotForNccl) {
  NcclScenario scenario;
  RailPort beside = test::PairPort(1, 0);
  beside.cage = "p0";
  beside.hca = "rocep1s0f0";
  beside.rail = 2;
  scenario.cluster.nodes.push_back({.name = "spark-3", .id = 3});
  for (Segment& segment : scenario.fabric.segments) {
    segment.ports.push_back(test::PairPort(3, segment.rail));
    scenario.fabric.ports["spark-3"].push_back(test::PairPort(3, segment.rail));
  }
  scenario.fabric.segments.push_back({.rail = 2, .ports = {beside}});
  scenario.fabric.ports["spark-1"].push_back(beside);
  EXPECT_THAT(scenario.Body(kServiceFile),
              HasSubstr("# the HCAs whose network reaches every node; '=' because names match by "
                        "prefix\nNCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1\n"));
  EXPECT_THAT(scenario.Body(kServiceFile), Not(HasSubstr("MERGE_NICS")));
}

TEST(Nccl, DmabufThatCannotHoldBlocksTheFiles) {
  NcclScenario scenario({{"mode", test::Text("dmabuf")}});
  EXPECT_THAT(
      scenario.Warnings(),
      ElementsAre("/etc/profile.d/60-spark-reconcile-nccl.sh: mode dmabuf cannot hold here: "
                  "no NVIDIA driver is loaded",
                  "/etc/spark-reconcile/nccl.env: mode dmabuf cannot hold here: no NVIDIA "
                  "driver is loaded"));
}

TEST(Nccl, CheckRefusesWhatNeedsNoNode) {
  NcclScenario scenario({{"env", Env({{"NCCL_IB_GID_INDEX", test::Number(3)},
                                      {"NCCL_NET_GDR_LEVEL", test::Number(5)},
                                      {"NCCL_TIMEOUT", test::Number(1800)}})}});
  std::vector<std::string> said;
  for (const Error& error : scenario.Check()) said.push_back(error.message + " | " + error.hint);
  EXPECT_THAT(
      said, ElementsAre(
                "nccl.env: NCCL_IB_GID_INDEX: one index for all HCAs, and each HCA's own moves: "
                "NCCL finds it automatically | remove it; to pin the index, set nccl.gid_index",
                "nccl.env: NCCL_NET_GDR_LEVEL: is decided by nccl.mode | mode safe sets LOC, mode "
                "dmabuf sets SYS",
                "nccl.env: NCCL_TIMEOUT: no NCCL reads it | a process group takes its timeout as "
                "an argument; NCCL_IB_TIMEOUT is that of one packet"));
}

TEST(Nccl, FilesNeedThePortsWhoseHcasTheyName) {
  NcclScenario scenario;
  const std::vector<Resource> wanted = scenario.Wanted();
  ASSERT_EQ(wanted.size(), 2u);
  for (const Resource& file : wanted) {
    EXPECT_THAT(file.needs, ElementsAre("spark-1/link/enp1s0f1np1", "spark-1/link/enP2p1s0f1np1"));
  }
}

}  // namespace
}  // namespace reconciler::plugins::nccl
