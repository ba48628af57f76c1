#include "plugins/etc_hosts/etc_hosts.h"

#include <gmock/gmock.h>

#include "reconciler/base/mark.h"
#include "tests/unit/plugins/pair_world.h"

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
  test::PairWorld world;
  world.AddFile(kFile, before);
  return world.File(Get(), kFile).content;
}

TEST(Hosts, EveryReachableNodeHasOneNamePerRail) {
  EXPECT_EQ(After("127.0.0.1 localhost\n"), std::string("127.0.0.1 localhost\n") + kBlock);
}

TEST(Hosts, ApplyingTheDesiredFileLeavesNothingToDo) {
  test::PairWorld world;
  world.AddFile(kFile, After("127.0.0.1 localhost\n"));
  EXPECT_EQ(world.Detail(Get(), kFile), "holds");
}

TEST(Hosts, ModeAndOwnerOfTheFileStay) {
  test::PairWorld world;
  const FileState before{.content = "a\n", .mode = 0640, .owner = "nvidia", .group = "adm"};
  world.facts.files[kFile] = before;
  FileState wanted = before;
  wanted.content = std::string("a\n") + kBlock;
  EXPECT_EQ(world.File(Get(), kFile), wanted);
}

TEST(Hosts, MissingFileIsMadeReadableForAll) {
  test::PairWorld world;
  world.facts.files[kFile] = Absent{};
  EXPECT_EQ(world.File(Get(), kFile), (FileState{.content = kBlock, .mode = 0644}));
}

TEST(Hosts, UnreadableFileBlocks) {
  test::PairWorld world;
  world.facts.files[kFile] = Unknown{"is a symbolic link"};
  EXPECT_EQ(world.Detail(Get(), kFile), "blocked: unknown: is a symbolic link");
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
  test::PairWorld world;
  Segment other{.rail = 2, .subnet = *ParseIpv4Prefix("192.168.179.0/24")};
  other.ports = {{.node = "spark-2", .rail = 2, .address = *ParseIpv4Prefix("192.168.179.2/24")}};
  world.fabric.segments.push_back(other);
  world.AddFile(kFile, "");
  EXPECT_EQ(world.File(Get(), kFile).content, kBlock);
}

TEST(Hosts, OrderOfPortsInASegmentDoesNotCount) {
  test::PairWorld world;
  for (Segment& segment : world.fabric.segments) std::swap(segment.ports[0], segment.ports[1]);
  std::swap(world.fabric.segments[0], world.fabric.segments[1]);
  world.AddFile(kFile, "");
  EXPECT_EQ(world.File(Get(), kFile).content, kBlock);
}

TEST(Hosts, NodeWithoutPortsLosesItsBlockAndNothingElse) {
  test::PairWorld world;
  world.fabric.segments.clear();
  world.AddFile(kFile, std::string("a\n") + kBlock);
  EXPECT_EQ(world.File(Get(), kFile).content, "a\n");
  world.facts.files[kFile] = Absent{};
  EXPECT_THAT(world.Resources(Get()), IsEmpty());
}

TEST(Hosts, ManageFalseReadsAndWantsNothing) {
  test::PairWorld world;
  world.AddFile(kFile, "");
  world.cluster.settings = test::Map({{"hosts", test::Map({{"manage", test::Flag(false)}})}});
  EXPECT_THAT(world.Resources(Get()), IsEmpty());
  EXPECT_TRUE(Get().probe(world.cluster, world.fabric, world.cluster.nodes[0]).empty());
  world.cluster.settings = test::Map({{"hosts", test::Map({{"manage", test::Flag(true)}})}});
  EXPECT_THAT(world.Names(Get()), ElementsAre(kFile));
}

}  // namespace
}  // namespace reconciler::plugins::hosts
