#include "plugins/etc_hosts/etc_hosts.h"

#include <gmock/gmock.h>

#include "reconciler/base/mark.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::hosts {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFile = "/etc/hosts";
constexpr const char* kBlock =
    "# BEGIN spark-reconcile homelab hosts\n"
    "192.168.177.1 spark-1-rail0\n"
    "192.168.177.2 spark-2-rail0\n"
    "192.168.178.1 spark-1-rail1\n"
    "192.168.178.2 spark-2-rail1\n"
    "# END spark-reconcile homelab hosts\n";

std::string After(const std::string& before) {
  test::PairScenario scenario;
  scenario.AddFile(kFile, before);
  return scenario.File(Get(), kFile).content;
}

TEST(Hosts, EveryReachableNodeHasOneNamePerRail) {
  EXPECT_EQ(After("127.0.0.1 localhost\n"), std::string("127.0.0.1 localhost\n") + kBlock);
}

TEST(Hosts, ApplyingTheDesiredFileLeavesNothingToDo) {
  test::PairScenario scenario;
  scenario.AddFile(kFile, After("127.0.0.1 localhost\n"));
  EXPECT_EQ(scenario.Detail(Get(), kFile), "holds");
}

TEST(Hosts, ModeAndOwnerOfTheFileStay) {
  test::PairScenario scenario;
  const FileState before{.content = "a\n", .mode = 0640, .owner = "nvidia", .group = "adm"};
  scenario.facts.files[kFile] = before;
  FileState wanted = before;
  wanted.content = std::string("a\n") + kBlock;
  EXPECT_EQ(scenario.File(Get(), kFile), wanted);
}

TEST(Hosts, MissingFileIsMadeReadableForAll) {
  test::PairScenario scenario;
  scenario.facts.files[kFile] = Absent{};
  EXPECT_EQ(scenario.File(Get(), kFile), (FileState{.content = kBlock, .mode = 0644}));
}

TEST(Hosts, UnreadableFileBlocks) {
  test::PairScenario scenario;
  scenario.facts.files[kFile] = Unknown{"is a symbolic link"};
  EXPECT_EQ(scenario.Detail(Get(), kFile), "blocked: unknown: is a symbolic link");
}

TEST(Hosts, ForeignLinesKeepEveryByte) {
  for (const std::string foreign :
       {"127.0.0.1 localhost\r\n192.168.177.2 spark-2-rail0\r\n", "\n\n# \xff\xfe not UTF-8\n",
        "192.168.177.9 spark-2-rail0\n"}) {
    EXPECT_EQ(After(foreign), foreign + kBlock);
  }
}

TEST(Hosts, EditedBlockIsPutRightInItsPlace) {
  std::string edited = std::string("a\n") + kBlock + "b\n";
  edited.replace(edited.find("177.2"), 5, "177.9");
  EXPECT_EQ(After(edited), std::string("a\n") + kBlock + "b\n");
}

TEST(Hosts, SegmentsWithoutAPortOfThisNodeAreLeftOut) {
  test::PairScenario scenario;
  Segment other{.rail = 2, .subnet = *ParseIpv4Prefix("192.168.179.0/24")};
  other.ports = {{.node = "spark-2", .rail = 2, .address = *ParseIpv4Prefix("192.168.179.2/24")}};
  scenario.fabric.segments.push_back(other);
  scenario.AddFile(kFile, "");
  EXPECT_EQ(scenario.File(Get(), kFile).content, kBlock);
}

TEST(Hosts, OrderOfPortsInASegmentDoesNotCount) {
  test::PairScenario scenario;
  for (Segment& segment : scenario.fabric.segments) std::swap(segment.ports[0], segment.ports[1]);
  std::swap(scenario.fabric.segments[0], scenario.fabric.segments[1]);
  scenario.AddFile(kFile, "");
  EXPECT_EQ(scenario.File(Get(), kFile).content, kBlock);
}

TEST(Hosts, NodeWithoutPortsLosesItsBlockAndNothingElse) {
  test::PairScenario scenario;
  scenario.fabric.segments.clear();
  scenario.AddFile(kFile, std::string("a\n") + kBlock);
  EXPECT_EQ(scenario.File(Get(), kFile).content, "a\n");
  scenario.facts.files[kFile] = Absent{};
  EXPECT_THAT(scenario.Resources(Get()), IsEmpty());
}

TEST(Hosts, AliasesNameTheFirstSharedRailOrElseManagement) {
  test::PairScenario scenario;
  scenario.cluster.nodes.push_back({.name = "spark-3", .id = 3, .address = "192.168.1.23"});
  scenario.cluster.nodes.push_back({.name = "spark-4", .id = 4, .address = "spark-4.lan"});
  const auto node = [](const std::string& name, std::vector<Value> aliases) {
    return test::Map({{"name", test::Text(name)}, {"aliases", test::List(std::move(aliases))}});
  };
  scenario.cluster.settings = test::Map(
      {{"nodes", test::List({node("spark-2", {test::Text("mesh-2"), test::Text("two.lan")}),
                             node("spark-1", {test::Text("mesh-1")}),
                             node("spark-3", {test::Text("mesh-3")}),
                             node("spark-4", {test::Text("mesh-4")})})}});  // no address to write
  scenario.AddFile(kFile, "10.9.0.2 two.lan\n");
  EXPECT_EQ(scenario.File(Get(), kFile).content,
            "10.9.0.2 two.lan\n"
            "# BEGIN spark-reconcile homelab hosts\n"
            "192.168.177.1 spark-1-rail0 mesh-1\n"
            "192.168.177.2 spark-2-rail0 mesh-2 two.lan\n"
            "192.168.178.1 spark-1-rail1\n"
            "192.168.178.2 spark-2-rail1\n"
            "192.168.1.23 mesh-3\n"
            "# END spark-reconcile homelab hosts\n");
  EXPECT_EQ(scenario.Warning(Get(), "two.lan"),
            "/etc/hosts:1 is above our lines, and gives two.lan the address 10.9.0.2 before "
            "192.168.177.2: remove two.lan from that line");
}

TEST(Hosts, ManageFalseReadsAndWantsNothing) {
  test::PairScenario scenario;
  scenario.AddFile(kFile, "");
  scenario.cluster.settings = test::Map({{"hosts", test::Map({{"manage", test::Flag(false)}})}});
  EXPECT_THAT(scenario.Resources(Get()), IsEmpty());
  EXPECT_TRUE(Get().probe(scenario.cluster, scenario.fabric, scenario.cluster.nodes[0]).empty());
  scenario.cluster.settings = test::Map({{"hosts", test::Map({{"manage", test::Flag(true)}})}});
  EXPECT_THAT(scenario.Names(Get()), ElementsAre(kFile));
}

// "none", or what the plan warns of about one of our names.
std::string WarningOf(const std::string& content, const std::string& name) {
  test::PairScenario scenario;
  scenario.AddFile(kFile, content);
  return scenario.Warning(Get(), name);
}

TEST(Hosts, ALineAboveOursWithAnotherAddressIsWarnedOf) {
  const std::string above = "127.0.0.1 localhost\n\t10.9.0.2\tbox Spark-2-Rail0  # old\n";
  const std::string wanted =
      "/etc/hosts:2 is above our lines, and gives spark-2-rail0 the address 10.9.0.2 before "
      "192.168.177.2: remove spark-2-rail0 from that line";
  EXPECT_EQ(WarningOf(above + kBlock, "spark-2-rail0"), wanted);
  EXPECT_EQ(WarningOf(above, "spark-2-rail0"), wanted);  // our lines will come to the end
  EXPECT_EQ(WarningOf(above + kBlock, "spark-2-rail1"), "none");
  test::PairScenario scenario;
  scenario.AddFile(kFile, above);
  EXPECT_EQ(scenario.FindWarning(Get(), "spark-2-rail0").code, "etc_hosts-foreign-line");
}

TEST(Hosts, AFileThatCloudInitWritesAtEachBootIsWarnedOfAlsoWhileOurBlockHolds) {
  const std::string header = "# Your system has configured 'manage_etc_hosts' as ";
  const std::string wanted =
      "cloud-init writes /etc/hosts at each boot, and removes our lines: write `manage_etc_hosts: "
      "false` into a file of /etc/cloud/cloud.cfg.d on the node, or `hosts: {manage: false}` into "
      "the manifest";
  EXPECT_EQ(WarningOf(header + "True.\n", "/etc/hosts"), wanted);
  EXPECT_EQ(WarningOf(header + "True.\n" + kBlock, "/etc/hosts"), wanted);
  EXPECT_EQ(WarningOf(header + "localhost.\n" + kBlock, "/etc/hosts"), "none");
}

TEST(Hosts, ALineThatChangesNothingIsNotWarnedOf) {
  for (const std::string& content :
       {std::string(kBlock) + "10.9.0.2 spark-2-rail0\n",       // read after ours
        std::string("192.168.177.2 spark-2-rail0\n") + kBlock,  // the same address
        std::string("# 10.9.0.2 spark-2-rail0\n") + kBlock,     // a comment
        std::string("10.9.0.2 spark-2-rail00\nspark-2-rail0\n") + kBlock}) {
    EXPECT_EQ(WarningOf(content, "spark-2-rail0"), "none") << content;
  }
}

TEST(Hosts, WithManageFalseNoLineOfOthersIsWarnedOf) {
  test::PairScenario scenario;
  scenario.AddFile(kFile, "10.9.0.2 spark-2-rail0\n");
  scenario.cluster.settings = test::Map({{"hosts", test::Map({{"manage", test::Flag(false)}})}});
  EXPECT_EQ(scenario.Warning(Get(), "spark-2-rail0"), "none");
}

// On a switch one node that is held must not hold the others, whose lines name it.
TEST(Hosts, TheFileNeedsTheNodesOwnPortsAndNotThoseOfPeers) {
  test::PairScenario scenario;
  EXPECT_THAT(scenario.Find(Get(), kFile).needs,
              ElementsAre("spark-1/link/enp1s0f1np1", "spark-1/link/enP2p1s0f1np1"));
}

TEST(Hosts, RemovingTheBlockNeedsNoPort) {
  test::PairScenario scenario;
  scenario.AddFile(kFile, After(""));
  scenario.fabric = {};
  EXPECT_THAT(scenario.Find(Get(), kFile).needs, IsEmpty());
}

}  // namespace
}  // namespace reconciler::plugins::hosts
