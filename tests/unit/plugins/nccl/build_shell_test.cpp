#include <gmock/gmock.h>

#include "plugins/nccl/build/bring_back.sh.h"
#include "plugins/nccl/build/build_nccl.sh.h"
#include "plugins/nccl/build/read_build.sh.h"
#include "plugins/nccl/build/remove_build.sh.h"
#include "plugins/nccl/build/set_aside.sh.h"
#include "reconciler/base/text.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::nccl {
namespace {

// A repository with a tag, and a branch of the same name that has moved on. Its Makefile makes a
// libnccl.so.2 that says what it was called with. git and make are real, and nvcc is not called.
class NcclBuildScript : public reconciler::test::ScriptTree {
 protected:
  NcclBuildScript() {
    Put("/repository/Makefile",
        "src.build:\n"
        "\t@mkdir -p $(BUILDDIR)/lib\n"
        "\t@echo 'tagged $(NVCC_GENCODE) $(CUDA_HOME)' >$(BUILDDIR)/lib/libnccl.so.2.28.9\n"
        "\t@ln -s libnccl.so.2.28.9 $(BUILDDIR)/lib/libnccl.so.2\n");
    PutProgram("nvcc", "");
    PutProgram("nvidia-smi", "echo 12.1\necho 12.1\n");
    has_tools_ = Git({"init -q", "add .", "commit -q -m first", "tag v2.28.9-1",
                      "checkout -q -b v2.28.9-1", "rm -q Makefile", "commit -q -m second"}) &&
                 Sh("command -v make").exit_code == 0;
  }
  void SetUp() override {
    if (!has_tools_) GTEST_SKIP() << "needs git and make";
  }

  CommandReply Sh(const std::string& script, const std::vector<std::string>& words = {}) const {
    std::vector<std::string> argv = {"sh", "-c", script, "sh"};
    argv.insert(argv.end(), words.begin(), words.end());
    return Run(argv);
  }
  bool Git(const std::vector<std::string>& commands) const {
    for (const std::string& words : commands) {
      const std::string git = "git -c user.name=test -c user.email=test@example.org ";
      if (Sh("cd " + Repository() + " && " + git + words).exit_code != 0) return false;
    }
    return true;
  }
  CommandReply Build(const std::string& tag = "v2.28.9-1") const {
    return Sh(std::string(kBuildNcclSh), {Folder(), tag, Repository(), "121"});
  }
  std::string Repository() const { return Place("/repository").string(); }
  std::string Folder() const { return Place("/opt/spark-reconcile/nccl/build").string(); }
  static bool Exists(const std::filesystem::path& path) { return std::filesystem::exists(path); }
  std::string Show(const std::string& path) const { return Sh("cat " + path).out; }

  bool has_tools_ = false;
};

TEST_F(NcclBuildScript, TheTagIsBuiltAndNotTheBranchOfItsName) {
  const CommandReply reply = Build();
  EXPECT_EQ(reply.exit_code, 0) << reply.out;
  EXPECT_EQ(Show(Folder() + "/lib/libnccl.so.2"),
            "tagged -gencode=arch=compute_121,code=sm_121 \n");
  EXPECT_THAT(Show(Folder() + "/built"),
              testing::MatchesRegex("v2.28.9-1 /repository 121\n[0-9a-f]+\n"));
  EXPECT_FALSE(Exists(Folder() + ".new"));
  EXPECT_FALSE(Exists(Folder() + "/source"));
}

TEST_F(NcclBuildScript, ATagThatIsNotThereChangesNothing) {
  ASSERT_EQ(Build().exit_code, 0);
  const CommandReply reply = Build("v9");
  EXPECT_NE(reply.exit_code, 0);
  EXPECT_THAT(reply.out, testing::HasSubstr("refs/tags/v9"));
  EXPECT_TRUE(Exists(Folder() + "/lib/libnccl.so.2"));
  EXPECT_FALSE(Exists(Folder() + ".new"));
}

TEST_F(NcclBuildScript, ABuildThatFailsShowsItsLastLines) {
  Put("/repository/Makefile", "src.build:\n\t@echo no such compiler; exit 1\n");
  ASSERT_TRUE(Git({"add .", "commit -q -m third", "tag broken"}));
  const CommandReply reply = Build("broken");
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.out, testing::HasSubstr("no such compiler\n"));
  EXPECT_FALSE(Exists(Folder()));
  EXPECT_FALSE(Exists(Folder() + ".new"));
}

TEST_F(NcclBuildScript, WhatWasBuiltIsReadAndRemoved) {
  ASSERT_EQ(Build().exit_code, 0);
  const std::string all = Place("/opt/spark-reconcile/nccl").string();
  EXPECT_THAT(SplitLines(Sh(std::string(kReadBuildSh), {all}).out),
              testing::IsSupersetOf(std::vector<std::string>{
                  "tool git", "tool make", "tool nvcc", "gpu 12.1",
                  "built /opt/spark-reconcile/nccl/build v2.28.9-1 /repository 121"}));
  Put("/opt/other", "");
  EXPECT_EQ(Sh(std::string(kRemoveBuildSh), {Folder()}).exit_code, 0);
  EXPECT_FALSE(Exists(Place("/opt/spark-reconcile")));
  EXPECT_TRUE(Exists(Place("/opt/other")));
}

TEST_F(NcclBuildScript, ABuildThatIsThereIsNotMadeAgain) {
  ASSERT_EQ(Build().exit_code, 0);
  Put("/opt/spark-reconcile/nccl/build/mark", "");
  PutProgram("git", "exit 1\n");  // as where the repository cannot be reached
  EXPECT_EQ(Build().exit_code, 0);
  EXPECT_TRUE(Exists(Folder() + "/mark"));
  EXPECT_NE(Build("v9").exit_code, 0);
}

TEST_F(NcclBuildScript, WhatWasSetAsideIsNotSeenAndComesBackWhole) {
  ASSERT_EQ(Build().exit_code, 0);
  PutFolder("/journal");
  const auto run = [&](std::string_view script) {
    return Run({"sh", "-c", std::string(script), "sh", Folder()},
               "export SPARK_JOURNAL='" + Place("/journal").string() + "'")
        .exit_code;
  };
  EXPECT_EQ(run(kSetAsideSh), 0);
  EXPECT_FALSE(Exists(Folder()));
  const std::string all = Place("/opt/spark-reconcile/nccl").string();
  EXPECT_THAT(Sh(std::string(kReadBuildSh), {all}).out, testing::Not(testing::HasSubstr("built")));
  EXPECT_EQ(Show(Place("/journal/aside").string()), "/opt/spark-reconcile/nccl/.build\n");
  EXPECT_EQ(Show(Place("/journal/made").string()),
            "/opt/spark-reconcile\n/opt/spark-reconcile/nccl\n");
  // Once more, as a revert does: nothing is lost.
  EXPECT_EQ(run(kSetAsideSh), 0);
  EXPECT_EQ(run(kBringBackSh), 0);
  EXPECT_EQ(run(kBringBackSh), 0);
  EXPECT_TRUE(Exists(Folder() + "/lib/libnccl.so.2"));
  EXPECT_FALSE(Exists(all + "/.build"));
}

}  // namespace
}  // namespace reconciler::plugins::nccl
