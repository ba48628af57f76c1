#include "reconciler/base/mark.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

constexpr const char* kBegin = "# BEGIN spark-reconcile homelab hosts\n";
constexpr const char* kEnd = "# END spark-reconcile homelab hosts\n";

std::string With(const std::string& content, const std::string& body) {
  return SetBlock(content, "homelab", "hosts", body);
}

TEST(Mark, OwnedFileNamesTheClusterAndItsBodysDigest) {
  EXPECT_EQ(FormatOwnedFile("homelab", "a = 1\n"),
            "# Written by spark-reconcile for cluster homelab (body sha256 cb78bd8a17f7b751).\n"
            "# Change the manifest and apply it; an edit made here is reported as drift.\n"
            "a = 1\n");
}

TEST(Mark, OwnedFileIsKnownAfterAnEditAndForeignTextIsNot) {
  EXPECT_TRUE(IsOwnedFile(FormatOwnedFile("homelab", "a = 1\n") + "b = 2\n", "homelab"));
  EXPECT_FALSE(IsOwnedFile("\n" + FormatOwnedFile("homelab", "a = 1\n"), "homelab"));
  EXPECT_FALSE(IsOwnedFile("", "homelab"));
}

TEST(Mark, OwnedFileOfAnotherClusterIsNotOurs) {
  const std::string office = FormatOwnedFile("homelab-2", "a = 1\n");
  EXPECT_FALSE(IsOwnedFile(office, "homelab"));
  EXPECT_EQ(FindOwner(office), "homelab-2");
  EXPECT_EQ(FindOwner("# Written by spark-reconcile for cluster homelab\n# (body sha256 x\n"),
            std::nullopt);
  EXPECT_EQ(FindOwner("# another program\n"), std::nullopt);
}

TEST(Mark, NewBlockGoesToTheEndAndLeavesTheRestAlone) {
  EXPECT_EQ(With("127.0.0.1 localhost\n", "x\n"),
            std::string("127.0.0.1 localhost\n") + kBegin + "x\n" + kEnd);
  EXPECT_EQ(With("", "x\n"), std::string(kBegin) + "x\n" + kEnd);
}

TEST(Mark, MissingFinalNewlineIsAddedBeforeABlock) {
  EXPECT_EQ(With("127.0.0.1 localhost", "x\n"),
            std::string("127.0.0.1 localhost\n") + kBegin + "x\n" + kEnd);
}

TEST(Mark, FirstBlockGoesToTheTop) {
  EXPECT_EQ(SetBlockFirst("Host *\n", "homelab", "hosts", "x\n"),
            std::string(kBegin) + "x\n" + kEnd + "Host *\n");
}

TEST(Mark, BlockIsReplacedWhereItStands) {
  const std::string content = std::string("a\n") + kBegin + "old\nolder\n" + kEnd + "b\n";
  const std::string wanted = std::string("a\n") + kBegin + "new\n" + kEnd + "b\n";
  EXPECT_EQ(With(content, "new\n"), wanted);
  EXPECT_EQ(SetBlockFirst(content, "homelab", "hosts", "new\n"), wanted);
}

TEST(Mark, SettingTheSameBlockTwiceChangesNothing) {
  for (const std::string content : {"", "a", "a\n", "a\r\nb\r\n", "# BEGIN something\n\n\n"}) {
    const std::string once = With(content, "x\ny\n");
    EXPECT_EQ(With(once, "x\ny\n"), once);
    EXPECT_EQ(ReadBlock(once, "homelab", "hosts"), "x\ny\n");
  }
}

TEST(Mark, EmptyBodyTakesTheBlockAwayWithItsMarkers) {
  EXPECT_EQ(With(std::string("a\n") + kBegin + "x\n" + kEnd + "b\n", ""), "a\nb\n");
  EXPECT_EQ(With("a\n", ""), "a\n");
}

TEST(Mark, BlocksOfOtherClustersAndTopicsAreSomeoneElses) {
  const std::string others =
      "# BEGIN spark-reconcile office hosts\nx\n"
      "# END spark-reconcile office hosts\n"
      "# BEGIN spark-reconcile homelab hosts-2\ny\n"
      "# END spark-reconcile homelab hosts-2\n";
  EXPECT_EQ(With(others, "z\n"), others + kBegin + "z\n" + kEnd);
  EXPECT_EQ(ReadBlock(others, "homelab", "hosts"), std::nullopt);
}

TEST(Mark, MarkerWithTextAroundItIsNoMarker) {
  const std::string content =
      "  # BEGIN spark-reconcile homelab hosts\n"
      "# BEGIN spark-reconcile homelab hosts, once\n";
  EXPECT_EQ(With(content, "x\n"), content + kBegin + "x\n" + kEnd);
}

TEST(Mark, BeginWithoutEndOwnsOnlyItsOwnLine) {
  const std::string content = std::string(kBegin) + "10.0.0.1 somebodys\n";
  EXPECT_EQ(ReadBlock(content, "homelab", "hosts"), std::nullopt);
  EXPECT_EQ(With(content, "x\n"), std::string(kBegin) + "x\n" + kEnd + "10.0.0.1 somebodys\n");
}

TEST(Mark, ABlockOfAnyClusterIsFound) {
  EXPECT_TRUE(HasBlock(SetBlock("", "office", "hosts", "x\n")));
  EXPECT_TRUE(HasBlock(SetBlock("a line\n", "homelab", "ssh-mesh", "x\n")));
  EXPECT_FALSE(HasBlock("a line\n  # BEGIN spark-reconcile homelab hosts\n"));
  EXPECT_FALSE(HasBlock(""));
}

TEST(Mark, AboveABlockIsWhatStandsBeforeItsFirstLine) {
  const std::string above = "a line\n# BEGIN spark-reconcile other hosts\n";
  const std::string content = SetBlock(above, "lab", "hosts", "ours\n") + "below\n";
  EXPECT_EQ(ReadAboveBlock(content, "lab", "hosts"), above);
  EXPECT_EQ(ReadAboveBlock(content, "lab", "ssh"), content);
}

}  // namespace
}  // namespace reconciler
