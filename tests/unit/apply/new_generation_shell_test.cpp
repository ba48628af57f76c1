// What a generation's document says of the manifest and its repository before anything is planned.
#include "reconciler/apply/new_generation.h"

#include <gtest/gtest.h>

#include "reconciler/node/lock.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class NewGeneration : public ShellTest {
 protected:
  // A folder of a repository whose only commit has pair.yaml.
  void Commit() {
    Put("it's here/pair.yaml", "name: pair\n");
    const ScriptReply reply = Run(
        "cd " + QuoteForShell(Path("it's here")) +
        " && git init -q . && git add pair.yaml && "
        "git -c user.name=ada -c user.email=ada@desk commit -q -m first && git rev-parse HEAD\n");
    ASSERT_EQ(reply.exit_code, 0) << reply.err;
    commit_ = Trim(reply.out);
  }

  GenerationInfo Make(const std::string& file) {
    ClusterSpec cluster;
    cluster.name = "pair";
    cluster.digest = "0123";
    return MakeGenerationInfo(cluster, "name: pair\n", file);
  }

  std::string commit_;
};

TEST_F(NewGeneration, NamesTheManifestAndWhoAppliesIt) {
  const GenerationInfo info = Make(Path("pair.yaml"));
  EXPECT_EQ(info.cluster, "pair");
  EXPECT_EQ(info.manifest, Path("pair.yaml"));
  EXPECT_EQ(info.manifest_digest, "0123");
  EXPECT_EQ(info.manifest_text, "name: pair\n");
  EXPECT_EQ(info.by, DescribeOwner());
  EXPECT_EQ(info.time.size(), FormatTimeNow().size());
  EXPECT_EQ(info.verification, "");
  EXPECT_EQ(info.rolled_back_to, -1);
}

TEST_F(NewGeneration, AFileInNoRepositoryHasNoCommit) {
  const GenerationInfo info = Make(Path("pair.yaml"));
  EXPECT_EQ(info.commit, "");
  EXPECT_FALSE(info.dirty);
  EXPECT_EQ(Make(Path("no such folder/pair.yaml")).commit, "");
  EXPECT_EQ(Make(std::string("pair.yaml\0x", 11)).commit, "");
}

TEST_F(NewGeneration, AFileAsItsCommitHasItIsClean) {
  Commit();
  const GenerationInfo info = Make(Path("it's here/pair.yaml"));
  EXPECT_EQ(info.commit, commit_);
  EXPECT_FALSE(info.dirty);
}

TEST_F(NewGeneration, AFileThatWasEditedOrNeverCommittedIsDirty) {
  Commit();
  Put("it's here/new.yaml", "");
  EXPECT_TRUE(Make(Path("it's here/new.yaml")).dirty);
  EXPECT_FALSE(Make(Path("it's here/pair.yaml")).dirty);
  Put("it's here/pair.yaml", "name: other\n");
  EXPECT_TRUE(Make(Path("it's here/pair.yaml")).dirty);
}

}  // namespace
}  // namespace reconciler
