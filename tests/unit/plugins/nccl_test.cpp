#include "plugins/nccl/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/shared/mark.h"
#include "reconciler/base/text.h"
#include "tests/unit/plugins/nccl_world.h"

namespace reconciler::plugins::nccl {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

Value Env(std::vector<std::pair<std::string, Value>> variables) {
  return test::Map(std::move(variables));
}

TEST(Nccl, ManifestWithoutItReadsAndHoldsNothing) {
  NcclWorld world;
  world.cluster.settings = test::Map({});
  EXPECT_TRUE(Get().probe(world.cluster, world.fabric, world.cluster.nodes.front()).empty());
  EXPECT_TRUE(world.Wanted().empty());
  EXPECT_TRUE(world.Check().empty());
}

TEST(Nccl, PairIsToldItsAdaptersItsBootstrapAndItsMode) {
  NcclWorld world({{"env", Env({{"NCCL_DEBUG", test::Text("WARN")}})}});
  EXPECT_THAT(world.Variables(),
              ElementsAre("NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1", "NCCL_SOCKET_IFNAME==enP7s7",
                          "GLOO_SOCKET_IFNAME=enP7s7", "TP_SOCKET_IFNAME=enP7s7",
                          "NCCL_NET_GDR_LEVEL=LOC", "NCCL_DEBUG=WARN"));
  EXPECT_THAT(world.Body(kShellFile),
              HasSubstr("# the adapters that have a cable; '=' because names match by prefix\n"
                        "export NCCL_IB_HCA='=rocep1s0f1,roceP2p1s0f1'\n"));
  EXPECT_THAT(world.Complaints(), IsEmpty());
}

TEST(Nccl, FilesThatHoldLeaveNothingToDoAndEditsAreDrift) {
  NcclWorld world;
  for (const std::string_view path : {kShellFile, kServiceFile}) {
    world.facts.files[std::string(path)] = FileState{.content = world.Body(path)};
  }
  for (const Resource& resource : world.Wanted()) {
    EXPECT_FALSE(Diff(resource, "nccl")) << resource.name;
  }
  std::get<FileState>(world.facts.files[std::string(kShellFile)]).content += "export NCCL_NET=IB\n";
  EXPECT_TRUE(Diff(world.Wanted().front(), "nccl"));
}

TEST(Nccl, ForeignFileOfOurNameIsBlocked) {
  NcclWorld world;
  world.facts.files[std::string(kServiceFile)] = FileState{.content = "NCCL_DEBUG=INFO\n"};
  EXPECT_THAT(world.Complaints(),
              ElementsAre("/etc/spark-reconcile/nccl.env: was not written by spark-reconcile: move "
                          "it away, or take this out of the manifest"));
}

TEST(Nccl, WhatCouldNotBeReadBlocks) {
  NcclWorld world;
  world.facts.files[std::string(kServiceFile)] = Unknown{"permission denied"};
  world.facts.values["nccl.settings"] = Unknown{"more than 64 KiB of lines name NCCL_"};
  world.facts.values["nccl.library"] = Unknown{"reading libnccl took longer than 20 s"};
  EXPECT_THAT(world.Complaints(),
              ElementsAre("/etc/spark-reconcile/nccl.env: unknown: permission denied",
                          "library: unknown: reading libnccl took longer than 20 s",
                          "other settings: unknown: more than 64 KiB of lines name NCCL_"));
}

TEST(Nccl, NodeWithoutAnInterfaceForBootstrapIsBlocked) {
  NcclWorld world;
  world.facts.links["enP7s7"].ipv4.clear();
  world.facts.session_interface.clear();
  EXPECT_THAT(world.Complaints(),
              Contains("/etc/spark-reconcile/nccl.env: cannot tell which interface the other nodes "
                       "reach: none holds '192.168.1.21': write the node's IPv4 address there, or "
                       "NCCL_SOCKET_IFNAME into nccl.env"));
}

TEST(Nccl, ManifestsOwnWordCountsMoreThanTheFabrics) {
  NcclWorld world({{"env", Env({{"NCCL_SOCKET_IFNAME", test::Text("=wlP9s9")}})}});
  EXPECT_THAT(world.Variables(),
              ElementsAre("NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1", "NCCL_NET_GDR_LEVEL=LOC",
                          "NCCL_SOCKET_IFNAME==wlP9s9"));
}

TEST(Nccl, AdapterHasTheNameThatTheNodeGivesIt) {
  NcclWorld world;
  ProbeReply reply;
  reply.values["/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0"] = "enp1s0f1np1";
  reply.values["/sys/class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0"] = Unknown{"no"};
  Get().parse(reply, world.facts);
  EXPECT_THAT(world.Variables(), Contains("NCCL_IB_HCA==mlx5_0,roceP2p1s0f1"));
}

TEST(Nccl, GidIndexIsPinnedOnlyWhenAskedFor) {
  NcclWorld asked({{"gid_index", test::Number(3)}});
  EXPECT_THAT(asked.Variables(), Contains("NCCL_IB_GID_INDEX=3"));
  EXPECT_THAT(NcclWorld().Body(kServiceFile), Not(HasSubstr("GID")));
}

TEST(Nccl, RingHasAllAdaptersAndItsOwnVariables) {
  NcclWorld world;
  world.MakeRing();
  EXPECT_THAT(world.Variables(),
              IsSupersetOf({"NCCL_IB_HCA==rocep1s0f0,roceP2p1s0f0,rocep1s0f1,roceP2p1s0f1",
                            "NCCL_IB_MERGE_NICS=0", "NCCL_NET_PLUGIN=none",
                            "NCCL_IB_SUBNET_AWARE_ROUTING=1"}));
  EXPECT_THAT(world.Body(kServiceFile),
              HasSubstr("# each cage leads to another neighbour: fused into one device, both would "
                        "fit neither\nNCCL_IB_MERGE_NICS=0\n"));
  EXPECT_THAT(world.Body(kServiceFile), Not(HasSubstr("PREFIX_LEN")));
}

TEST(Nccl, RingWithALibraryThatCannotDoItSaysSoAndSetsNothingInVain) {
  NcclWorld world;
  world.MakeRing();
  NcclWorld::AddLibrary(world.facts, "2.28.9", "NCCL_IB_HCA");
  EXPECT_THAT(world.Body(kServiceFile), Not(HasSubstr("SUBNET_AWARE")));
  EXPECT_THAT(
      world.Complaints(),
      ElementsAre("library: NCCL 2.28.9 (/usr/lib/libnccl.so.2) cannot pair adapters by "
                  "subnet, which cables without a switch need: it takes 2.30.7 or a patched "
                  "build"));
  NcclWorld::AddLibrary(world.facts, "2.28.9", "NCCL_IB_HCA NCCL_IB_SUBNET_AWARE_ROUTING");
  EXPECT_THAT(world.Variables(), Contains("NCCL_IB_SUBNET_AWARE_ROUTING=1"));
  EXPECT_THAT(world.Complaints(), IsEmpty());
  world.facts.values["nccl.library"] = Unknown{"reading libnccl took longer than 20 s"};
  EXPECT_EQ(world.Body(kServiceFile), "not known");
}

TEST(Nccl, SubnetsOfAnotherLengthAreTold) {
  NcclWorld world;
  world.MakeRing();
  for (Segment& segment : world.fabric.segments) segment.subnet.length = 30;
  EXPECT_THAT(world.Variables(), Contains("NCCL_IB_SUBNET_PREFIX_LEN=30"));
}

TEST(Nccl, CableBesideASwitchIsNotForNccl) {
  NcclWorld world;
  RailPort beside = test::PairPort(1, 0);
  beside.cage = "p0";
  beside.hca = "rocep1s0f0";
  world.cluster.nodes.push_back({.name = "spark-3", .id = 3});
  for (Segment& segment : world.fabric.segments) {
    segment.ports.push_back(test::PairPort(3, segment.rail));
    world.fabric.ports["spark-3"].push_back(test::PairPort(3, segment.rail));
  }
  world.fabric.segments.push_back({.rail = 2, .ports = {beside}});
  world.fabric.ports["spark-1"].push_back(beside);
  EXPECT_THAT(world.Variables(), Contains("NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1"));
  EXPECT_THAT(world.Body(kServiceFile), Not(HasSubstr("MERGE_NICS")));
}

TEST(Nccl, DmabufThatCannotHoldBlocksTheFiles) {
  NcclWorld world({{"mode", test::Text("dmabuf")}});
  EXPECT_THAT(
      world.Complaints(),
      ElementsAre("/etc/profile.d/60-spark-reconcile-nccl.sh: mode dmabuf cannot hold here: "
                  "no NVIDIA driver is loaded",
                  "/etc/spark-reconcile/nccl.env: mode dmabuf cannot hold here: no NVIDIA "
                  "driver is loaded"));
}

TEST(Nccl, CheckRefusesWhatNeedsNoNode) {
  NcclWorld world({{"env", Env({{"NCCL_IB_GID_INDEX", test::Number(3)},
                                {"NCCL_NET_GDR_LEVEL", test::Number(5)},
                                {"NCCL_TIMEOUT", test::Number(1800)}})}});
  std::vector<std::string> said;
  for (const Error& error : world.Check()) said.push_back(error.message + " | " + error.hint);
  EXPECT_THAT(
      said, ElementsAre(
                "nccl.env: NCCL_IB_GID_INDEX: one index for all adapters, and each adapter's own "
                "moves: NCCL finds it by itself | take it out; who must pin it writes "
                "nccl.gid_index",
                "nccl.env: NCCL_NET_GDR_LEVEL: is decided by nccl.mode | mode safe sets LOC, mode "
                "dmabuf sets SYS",
                "nccl.env: NCCL_TIMEOUT: no NCCL reads it | a process group takes its timeout as "
                "an argument; NCCL_IB_TIMEOUT is that of one packet"));
}

TEST(NcclFindings, ManifestsVariableThatTheLibraryLacksIsFound) {
  NcclWorld world({{"env", Env({{"NCCL_NET_MERGE_POLICY", test::Text("RAIL")}})}});
  NcclWorld::AddLibrary(world.facts, "2.28.9", "NCCL_IB_HCA");
  EXPECT_THAT(world.Complaints(),
              ElementsAre("NCCL_NET_MERGE_POLICY: NCCL 2.28.9 (/usr/lib/libnccl.so.2) has no such "
                          "variable and ignores it: it came with 2.30.5"));
}

TEST(NcclFindings, LibraryOfTheManifestThatIsNotThereIsFound) {
  NcclWorld world({{"library", test::Text("/opt/nccl/libnccl.so.2")}});
  EXPECT_THAT(world.Complaints(), ElementsAre("library: /opt/nccl/libnccl.so.2 is not there"));
}

TEST(NcclFindings, NodeThatIsBehindTheOthersIsFound) {
  NcclWorld world;
  NcclWorld::AddLibrary(world.facts, "2.28.9", "NCCL_IB_HCA");
  NcclWorld::AddLibrary(world.all.nodes["spark-2"], "2.30.7", "NCCL_IB_HCA");
  EXPECT_THAT(world.Complaints(),
              ElementsAre("library version: NCCL 2.28.9 (/usr/lib/libnccl.so.2), and spark-2 has "
                          "2.30.7: all ranks must run one version"));
  NcclWorld::AddLibrary(world.facts, "2.30.10", "NCCL_IB_HCA");
  EXPECT_THAT(world.Complaints(), IsEmpty());
}

// What stands at index 3 of the first adapter.
std::vector<std::string> AtIndex3(const Observed<std::string>& type, const std::string& gid) {
  NcclWorld world({{"gid_index", test::Number(3)}});
  const std::string folder = "/sys/class/infiniband/rocep1s0f1/ports/1/";
  ProbeReply reply;
  reply.values[folder + "gid_attrs/types/3"] = type;
  reply.values[folder + "gids/3"] = gid;
  reply.values["/sys/class/infiniband/roceP2p1s0f1/ports/1/gids/3"] = Absent{};
  Get().parse(reply, world.facts);
  return world.Complaints();
}

TEST(NcclFindings, PinnedGidIndexMustBeTheAdaptersIpv4Address) {
  EXPECT_THAT(AtIndex3("RoCE v2", "0000:0000:0000:0000:0000:ffff:c0a8:b101"), IsEmpty());
  EXPECT_THAT(AtIndex3("IB/RoCE v1", "0000:0000:0000:0000:0000:ffff:c0a8:b101"),
              ElementsAre("gid_index on rocep1s0f1: wanted RoCE v2 of 192.168.177.1 at index 3, "
                          "found IB/RoCE v1 of 0000:0000:0000:0000:0000:ffff:c0a8:b101: take "
                          "gid_index out, and NCCL finds it by itself"));
  EXPECT_THAT(AtIndex3("RoCE v2", "fe80:0000:0000:0000:0200:00ff:fe00:0001"), Not(IsEmpty()));
  EXPECT_THAT(AtIndex3(Unknown{"Invalid argument"}, "0000:0000:0000:0000:0000:0000:0000:0000"),
              ElementsAre("gid_index on rocep1s0f1: wanted RoCE v2 of 192.168.177.1 at index 3, "
                          "found nothing: take gid_index out, and NCCL finds it by itself"));
}

// One line of a file of the node, and what the plan says about it.
std::vector<std::string> About(const std::string& path, const std::string& line,
                               const std::string& of_peer = "") {
  NcclWorld world({{"env", Env({{"NCCL_DEBUG", test::Text("WARN")}})}});
  const auto store = [](NodeFacts& facts, const std::string& where, const std::string& text) {
    CommandReply reply{.out = where};
    reply.out.push_back('\0');
    reply.out += "7:" + text + "\n";
    Get().parse({.commands = {{"nccl.settings", reply}}}, facts);
  };
  store(world.facts, path, line);
  if (!of_peer.empty()) store(world.all.nodes["spark-2"], path, of_peer);
  return world.Complaints();
}

TEST(NcclFindings, LeftoverThatNobodyReadsIsFoundWithItsLine) {
  EXPECT_THAT(
      About("/etc/nccl.conf", "NCCL_TIMEOUT=1800"),
      ElementsAre("/etc/nccl.conf:7 NCCL_TIMEOUT=1800: no NCCL reads it: a process group "
                  "takes its timeout as an argument; NCCL_IB_TIMEOUT is that of one packet"));
  EXPECT_THAT(About("/etc/environment", "NCCL_TIMEOUT=1 NCCL_TIMEOUT=1"), testing::SizeIs(1));
}

TEST(NcclFindings, LineOfNcclConfThatSetsAnotherNameIsFound) {
  EXPECT_THAT(
      About("/etc/nccl.conf", "export NCCL_NET=IB"),
      ElementsAre("/etc/nccl.conf:7 export NCCL_NET=IB: nccl.conf takes every byte for what "
                  "it is, so that this sets 'export NCCL_NET': begin the line with the "
                  "name"));
}

TEST(NcclFindings, WordInANumberFieldIsFoundButWhatAShellMakesIsNotJudged) {
  EXPECT_THAT(About("/etc/profile.d/a.sh", "export NCCL_IB_DISABLE=true"),
              ElementsAre("/etc/profile.d/a.sh:7 NCCL_IB_DISABLE=true: wanted a number, found "
                          "'true', which NCCL reads as 0 without a word: a number from 0 to 1"));
  EXPECT_THAT(About("/etc/profile.d/a.sh", "export NCCL_IB_TC=$TC", "export NCCL_IB_TC=$TC"),
              IsEmpty());
  EXPECT_THAT(About("/etc/profile.d/a.sh", "export NCCL_TIMEOUT=$T"), testing::SizeIs(1));
}

TEST(NcclFindings, SettingThatFightsTheManifestsSaysWhoWins) {
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_DEBUG=INFO"),
              ElementsAre("/etc/nccl.conf:7 NCCL_DEBUG=INFO: the manifest says WARN: this is "
                          "shadowed wherever the environment is set, and wins elsewhere: take it "
                          "out there"));
  EXPECT_THAT(About("/home/nvidia/.bashrc", "export NCCL_DEBUG=INFO"),
              ElementsAre("/home/nvidia/.bashrc:7 NCCL_DEBUG=INFO: the manifest says WARN: this is "
                          "read after /etc/profile.d/60-spark-reconcile-nccl.sh and wins: take it "
                          "out there"));
  EXPECT_THAT(About("/etc/profile.d/nccl.sh", "export NCCL_DEBUG=INFO"),
              ElementsAre(HasSubstr("this is read after")));
  EXPECT_THAT(About("/etc/profile.d/10-nccl.sh", "export NCCL_DEBUG=INFO"),
              ElementsAre(HasSubstr("this wins where")));
  EXPECT_THAT(
      About("/etc/environment", "NCCL_DEBUG=INFO"),
      ElementsAre("/etc/environment:7 NCCL_DEBUG=INFO: the manifest says WARN: this wins "
                  "where /etc/profile.d/60-spark-reconcile-nccl.sh is not read: take it out "
                  "there"));
  EXPECT_THAT(About("/etc/systemd/system/vllm.service", "Environment=NCCL_DEBUG=INFO"),
              ElementsAre("/etc/systemd/system/vllm.service:7 NCCL_DEBUG=INFO: the manifest says "
                          "WARN: this wins in units without "
                          "EnvironmentFile=/etc/spark-reconcile/nccl.env: take it out there"));
  EXPECT_THAT(About("/etc/environment", "NCCL_DEBUG=WARN"), IsEmpty());
}

TEST(NcclFindings, PinnedGidIndexOfALeftoverIsFound) {
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_IB_GID_INDEX=3", "NCCL_IB_GID_INDEX=3"),
              ElementsAre("/etc/nccl.conf:7 NCCL_IB_GID_INDEX=3: one index for all adapters, and "
                          "each adapter's own moves: NCCL finds it by itself: take it out there"));
}

TEST(NcclFindings, SettingThatDiffersBetweenRanksIsFound) {
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_PROTO=LL", "NCCL_PROTO=Simple"),
              ElementsAre("/etc/nccl.conf:7 NCCL_PROTO=LL: spark-2 has Simple: ranks that differ "
                          "hang: put it into nccl.env of the manifest, or take it out"));
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_PROTO=LL"),
              ElementsAre("/etc/nccl.conf:7 NCCL_PROTO=LL: spark-2 has none: ranks that differ "
                          "hang: put it into nccl.env of the manifest, or take it out"));
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_PROTO=LL", "NCCL_PROTO=LL"), IsEmpty());
  EXPECT_THAT(About("/etc/nccl.conf", "NCCL_RAS_ENABLE=0"), IsEmpty());
}

TEST(NcclFindings, PeerThatWasNotReadAccusesNobody) {
  NcclWorld world;
  world.facts.values["nccl.settings"] = "/etc/nccl.conf:7:NCCL_PROTO=LL\n";
  world.all.nodes.erase("spark-2");
  EXPECT_THAT(world.Complaints(), IsEmpty());
}

TEST(NcclFindings, SecretsBesideAVariableAreNotKept) {
  NodeFacts facts;
  CommandReply reply{.out = "/etc/systemd/system/a.service"};
  reply.out.push_back('\0');
  reply.out += "3:Environment=HF_TOKEN=hf_abc NCCL_DEBUG=INFO\n";
  Get().parse({.commands = {{"nccl.settings", reply}}}, facts);
  EXPECT_EQ(*Known(facts.values.at("nccl.settings")),
            "/etc/systemd/system/a.service:3:NCCL_DEBUG=INFO\n");
}

}  // namespace
}  // namespace reconciler::plugins::nccl
