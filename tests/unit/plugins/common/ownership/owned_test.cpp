#include "plugins/common/ownership/owned.h"

#include <gtest/gtest.h>

#include "reconciler/base/mark.h"

namespace reconciler::plugins {
namespace {

Observed<FileState> With(const std::string& content) { return FileState{.content = content}; }

TEST(Owned, FileThatOthersWroteIsNotOurs) {
  constexpr const char* kWhy =
      "was not written by spark-reconcile: move it away, or remove this from the manifest";
  EXPECT_EQ(ExplainNotOurs(With("# another program\n"), "homelab"), kWhy);
  EXPECT_EQ(ExplainNotOurs(With(""), "homelab"), kWhy);
}

TEST(Owned, FileOfAnotherClusterIsNotOurs) {
  EXPECT_EQ(ExplainNotOurs(With(FormatOwnedFile("office", "a\n")), "homelab"),
            "belongs to cluster 'office': move it away if that cluster is gone, or remove this "
            "from the manifest");
}

TEST(Owned, EditedFileOfOursStaysOurs) {
  EXPECT_EQ(ExplainNotOurs(With(FormatOwnedFile("homelab", "a\n") + "b\n"), "homelab"), "");
  EXPECT_EQ(ExplainNotOurs(Absent{}, "homelab"), "");
}

TEST(Owned, ABlockedFileIsNamedWithItsPathAndReason) {
  NodeFacts facts;
  facts.files["/a"] = Unknown{"is not a regular file"};
  facts.files["/b"] = With("x\n");
  facts.files["/c"] = Absent{};
  facts.files["/d"] = With(FormatOwnedFile("homelab", "old\n"));
  EXPECT_EQ(FindFileObstacle(facts, "/a", "homelab"),
            (Obstacle{"plan-state-unknown", "/a cannot be read: is not a regular file"}));
  EXPECT_EQ(FindFileObstacle(facts, "/b", "homelab"),
            (Obstacle{"plan-file-not-ours",
                      "/b was not written by spark-reconcile: move it away, or remove this from "
                      "the manifest"}));
  EXPECT_EQ(FindFileObstacle(facts, "/c", "homelab"), Obstacle());
  EXPECT_EQ(FindFileObstacle(facts, "/d", "homelab"), Obstacle());
}

TEST(Owned, NotBeingOursCountsMoreThanAnotherReason) {
  Resource resource{.observed = ResourceState(FileState{.content = "x\n"}),
                    .blocked = {"p-another", "another"}};
  BlockUnlessOurs(resource, "homelab");
  EXPECT_EQ(resource.blocked.code, "plan-file-not-ours");
  resource = {.observed = ResourceState(FileState{.content = FormatOwnedFile("homelab", "x\n")}),
              .blocked = {"p-another", "another"}};
  BlockUnlessOurs(resource, "homelab");
  EXPECT_EQ(resource.blocked.why, "another");
}

}  // namespace
}  // namespace reconciler::plugins
