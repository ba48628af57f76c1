// A node reverts although its journal takes no new file or no write any more, from any step on.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/apply/guard/guard_machine.h"

namespace reconciler {
namespace {

// In a mount namespace that ends with each script, our state's folder is a file system of its own.
class GuardRoom : public GuardMachine {
 protected:
  void SetUp() override {
    if (geteuid() != 0 || Run("unshare -m mount -t tmpfs none /mnt").exit_code != 0) {
      GTEST_SKIP() << "a mount namespace of its own needs root";
    }
    Program("sync", fmt::format(R"sh(count={0}/count
n=$(($(cat $count) + 1)); echo $n >$count
[ $n != "$(cat {0}/remount-at)" ] || mount -o remount,bind,ro {0}/state)sh",
                                directory_));
    const Change change = MakeChange();
    const std::vector<Step> steps = ListSteps({&change});
    Request("stage", BuildStageRequest(steps, 0, Journal()));
    // The last progress is always too long ago: with 0, each watch would wait for the next second.
    Request("arm", BuildArmRequest(Journal(), {{.changes = {change}}}, {.revert_after = -1}));
    Request("activate", BuildActivateRequest(steps, 0, Journal()));
    Put("guard.sh", fmt::format("[ ! -e {0}/guard ] || sh {0}/guard watch", Journal()));
  }

  Change MakeChange() {
    Change change{
        .actions = {WriteFile{Path("etc/in-place"), {"new", 0644, user_, user_}},
                    WriteFile{Path("etc/absent"), {"new", 0644, user_, user_}},
                    WriteFile{Path("etc/tried"), {"new", 0644, user_, user_}, {Path("run/trial")}},
                    RunCommand{.argv = {"cp", Path("etc/in-place"), Path("live")}}},
        .revert = {RunCommand{.argv = {"cp", Path("was"), Path("live")}, .must_succeed = true}}};
    change.triggers = {RunCommand{.argv = {"cp", Path("etc/in-place"), Path("run/generated")},
                                  .makes = {Path("run/generated")}}};
    return change;
  }

  void Request(const std::string& name, const std::string& request) {
    Put(name + ".sh", Adapt(BuildScriptPreamble("n") + BuildNodeHelper() +
                            "note() { :; }\nD=/var/lib/spark-reconcile\n(\n" + request + "\n)\n"));
  }

  void Reset() {
    for (const char* name : {"etc", "run", "units", "timers", "volatile"}) {
      std::filesystem::remove_all(Path(name));
    }
    Put("etc/in-place", "old");
    Put("etc/tried", "old");
    Put("run/generated", "old");
    Put("live", "old");
    Put("was", "old");
    Put("count", "0");
    Put("remount-at", "0");
    std::filesystem::create_directories(Path("units/sysinit.target.wants"));
  }

  // In a fresh file system for our state.
  ScriptReply Play(const std::string& script) {
    Put("play.sh", fmt::format("cd {0}\nmount -t tmpfs -o mode=0700 none state && mkdir -p "
                               "state/journal || exit 9\nrun() {{ sh {0}/$1.sh; }}\n{1}",
                               directory_, script));
    return Run("unshare -m sh " + QuoteForShell(Path("play.sh")) + " 2>&1");
  }

  void ExpectBefore(const ScriptReply& reply) {
    EXPECT_EQ(Get(Path("etc/in-place")), "old") << reply.out;
    EXPECT_EQ(Get(Path("etc/tried")), "old") << reply.out;
    EXPECT_EQ(Get(Path("run/generated")), "old") << reply.out;
    EXPECT_EQ(Get(Path("live")), "old") << reply.out;
    EXPECT_FALSE(std::filesystem::exists(Path("etc/absent"))) << reply.out;
    EXPECT_FALSE(std::filesystem::exists(Path("run/trial"))) << reply.out;
  }
};

constexpr const char* kApply = "run stage && run arm && run activate\n";

TEST_F(GuardRoom, AnOrderThatIsNoNumberIsPassedOver) {
  Reset();
  const ScriptReply reply =
      Play(fmt::format("mkdir state/journal/a state/journal/b state/journal/c\n"
                       "echo 7 >state/journal/a/order; echo abc >state/journal/b/order\n"
                       "true >state/journal/c/order\nrun stage && run arm && cat {}/order\n",
                       Journal()));
  EXPECT_THAT(reply.out, testing::EndsWith("8\n"));
}

// How many files a whole apply makes here; beyond that nothing is missing.
constexpr int kFiles = 50;

TEST_F(GuardRoom, WithoutRoomForFilesTheApplyIsRevertedWhereverItRunsOut) {
  for (int inodes = 0; inodes < kFiles; inodes += inodes < 20 ? 3 : 1) {
    SCOPED_TRACE(inodes);
    Reset();
    ExpectBefore(Play(
        fmt::format("mount -o remount,nr_inodes={} state\n{}run guard\n", inodes + 3, kApply)));
  }
}

TEST_F(GuardRoom, WithoutRoomForFilesAfterTheApplyItIsRevertedAndWrittenDown) {
  for (int inodes = 0; inodes <= 10; ++inodes) {
    SCOPED_TRACE(inodes);
    Reset();
    const ScriptReply reply =
        Play(kApply +
             fmt::format("cat live run/generated\nused=$(($(stat -f -c %c state) - $(stat -f -c "
                         "%d state)))\nmount -o remount,nr_inodes=$((used + {})) state\n"
                         "run guard; echo \"exit $?\"; readlink {}/decision\n",
                         inodes, Journal()));
    ExpectBefore(reply);
    EXPECT_THAT(reply.out, testing::HasSubstr("newnew"));  // there was something to revert
    EXPECT_THAT(reply.out, testing::HasSubstr("exit 0\nrevert\n"));
    EXPECT_FALSE(std::filesystem::exists(Path("volatile/reverted/0123456789abcdef")));
  }
}

TEST_F(GuardRoom, StagingWithoutRoomSaysThatTheFileSystemIsFull) {
  Reset();
  const ScriptReply full = Play(
      "mount -o remount,size=16k state\nhead -c 1m /dev/zero >state/fill 2>/dev/null\nrun stage");
  EXPECT_NE(full.exit_code, 0);
  EXPECT_THAT(full.out, testing::EndsWith("hint: the file system of " + Path("state") +
                                          " has 0 KiB of free space: make room there\n"));
  const ScriptReply many = Play("mount -o remount,nr_inodes=4 state\nrun stage");
  EXPECT_NE(many.exit_code, 0);
  EXPECT_THAT(many.out, testing::EndsWith(" free inodes: make room there\n"));
}

TEST_F(GuardRoom, AHintThatAFileSystemIsFullHidesNoOtherCause) {
  Reset();
  const std::string cause = Path("etc/in-place") + " is not a regular file\n";
  std::filesystem::remove(Path("etc/in-place"));
  std::filesystem::create_directory(Path("etc/in-place"));
  EXPECT_EQ(Play("run stage").out, cause);
  const std::string fill =
      "mount -t tmpfs -o size=16k none /etc\nhead -c 1m /dev/zero >/etc/fill 2>/dev/null\n";
  EXPECT_EQ(Play(fill + "run stage").out,
            cause + "hint: the file system of /etc has 0 KiB of free space: make room there\n");
  EXPECT_EQ(Play(fill + "mount -o remount,ro /etc\nrun stage").out, cause);
}

// What a node said that it is ready for it can do: its files, the ledger and a generation, which
// has a folder of its own.
TEST_F(GuardRoom, ACommitNeedsNoRoom) {
  Reset();
  Request("intent",
          BuildIntentRequest(Journal(),
                             {{"ledger.json", "new"}, {"generations/7/manifest.yaml", "new"}}, {}));
  const ScriptReply reply = Play(
      kApply +
      fmt::format(
          "cat live >/dev/null; echo old >state/ledger.json; run intent\n"
          "used=$(($(stat -f -c %c state) - $(stat -f -c %d state)))\n"
          "mount -o remount,nr_inodes=$used state; ! true >state/file || exit\n"
          "sh {0}/guard commit; echo \"exit $?\"; cat state/ledger.json "
          "state/generations/7/manifest.yaml {0}/state; sh {0}/guard commit; echo \"again $?\"\n",
          Journal()));
  EXPECT_THAT(reply.out, testing::HasSubstr("exit 0\nnewnewcommitted\nagain 0\n"));
  EXPECT_EQ(Get(Path("etc/tried")), "new");
}

TEST_F(GuardRoom, NoNodeIsReadyToCommitWhoseFolderOfGenerationsTakesNoFile) {
  Reset();
  Request("intent", BuildIntentRequest(
                        Journal(), {{"ledger.json", "new"}, {"generations/7/cluster", "new"}}, {}));
  const std::string folder = Path("state/generations");
  const ScriptReply reply =
      Play(kApply + fmt::format("mkdir {0}; mount --bind {0} {0}; mount -o remount,bind,ro {0}\n"
                                "run intent; echo \"exit $?\"; [ -e {1}/intent ] || echo unready\n",
                                folder, Journal()));
  EXPECT_THAT(reply.out,
              testing::HasSubstr(folder + "/7/cluster cannot be placed in " + folder +
                                 ": Read-only file system (lsattr -d shows whether that folder is "
                                 "immutable or append-only, findmnt whether it is read-only)\n"));
  EXPECT_THAT(reply.out, testing::EndsWith("exit 1\nunready\n"));
}

// What the kernel does with a folder that is append-only: it takes the copy beside the target, and
// lets no one rename it.
TEST_F(GuardRoom, NoNodeIsReadyToCommitThatHasANewFileForAnAppendOnlyFolder) {
  if (Run("unshare -m sh -c 'mount -t tmpfs none /mnt && chattr +a /mnt'").exit_code != 0) {
    GTEST_SKIP() << "chattr on tmpfs needs Linux 6.6";
  }
  Reset();
  Request("intent", BuildIntentRequest(Journal(), {{"generations/7/cluster", "new"}}, {}));
  for (const std::string folder : {"etc", "state/generations"}) {
    const ScriptReply reply = Play(
        fmt::format("mount -t tmpfs none etc && mkdir state/generations || exit\n{0}chattr +a {1} "
                    "|| exit\nrun intent; echo \"exit $?\"; ls -A {1}\n",
                    kApply, folder));
    EXPECT_THAT(reply.out, testing::HasSubstr(" cannot be placed in " + Path(folder) +
                                              ": Operation not permitted "));
    EXPECT_THAT(reply.out,
                testing::EndsWith(folder == "etc" ? "exit 1\nabsent\nin-place\n" : "exit 1\n"));
  }
}

// It is no success before the journal knows of it, but is not done twice.
TEST_F(GuardRoom, AJournalThatBecomesReadOnlyIsRevertedAndWrittenDownLater) {
  Reset();
  const int syncs = [&] {
    Play(kApply);
    return std::stoi(Get(Path("count")));
  }();
  ASSERT_GT(syncs, 5);
  for (int at = 1; at <= syncs + 3; ++at) {
    SCOPED_TRACE(at);
    Reset();
    Put("remount-at", fmt::format("{}", at));
    const ScriptReply reply = Play(
        kApply + fmt::format("run guard; echo \"exit $?\"\n"
                             "echo other >etc/in-place; mount -o remount,bind,rw state; run guard\n"
                             "[ ! -e {0}/guard ] || {{ cat {0}/state; readlink {0}/decision; }}\n"
                             "echo \"last $?\"\n",
                             Journal()));
    const bool is_armed = reply.out.find("exit 1") != std::string::npos;
    if (is_armed) {
      EXPECT_THAT(reply.out, testing::HasSubstr("reverted\nrevert\nlast 0\n"));
    }
    EXPECT_EQ(Get(Path("etc/in-place")), "other\n") << reply.out;
    Put("etc/in-place", "old");
    ExpectBefore(reply);
    EXPECT_TRUE(std::filesystem::is_empty(Path("units/sysinit.target.wants"))) << reply.out;
  }
}

}  // namespace
}  // namespace reconciler
