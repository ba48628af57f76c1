#include "reconciler/apply/steps/apply_script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <utility>

#include "reconciler/apply/guard/revert_script.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class ApplyScriptTest : public ShellTest {
 protected:
  FileState State(std::string content, unsigned mode = 0644) {
    return {std::move(content), mode, user_, getgrgid(getegid())->gr_name};
  }

  std::vector<StepReply> Apply(const std::vector<Action>& actions, bool prune = false) {
    std::vector<Step> steps;
    for (const Action& action : actions) steps.push_back({0, action, prune});
    const std::string nonce = MakeNonce();
    staged_ = RunRequest(BuildStageRequest(steps, 0, Path("journal")), nonce);
    if (staged_.exit_code != 0) return {};
    return ParseApplyReply(RunRequest(BuildActivateRequest(steps, 0, Path("journal")), nonce),
                           nonce);
  }
  ScriptReply staged_;

  unsigned Mode(const std::string& name) const {
    struct stat status = {};
    EXPECT_EQ(stat(Path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  }
};

TEST(ParseApplyReply, AnExitStatusThatIsNoNumberIsNoSuccess) {
  const auto replies = ParseApplyReply({.out = "\nN step\nsome text\nN exit soon\n"}, "N");
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].exit_code, -1);
  EXPECT_EQ(replies[0].out, "some text");
}

TEST_F(ApplyScriptTest, AWriteKeepsEveryByteAndJournalsWhatStoodThere) {
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  Put("etc/x", "old");
  std::filesystem::permissions(Path("etc/x"), std::filesystem::perms(0640));
  const auto replies = Apply({WriteFile{Path("etc/x"), State(bytes + "'$(id)'\n\n", 0600)},
                              WriteFile{Path("etc/new/deep/y"), State("y")}});
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].exit_code, 0) << replies[0].err;
  EXPECT_EQ(replies[1].exit_code, 0) << replies[1].err;
  EXPECT_EQ(Get(Path("etc/x")), bytes + "'$(id)'\n\n");
  EXPECT_EQ(Mode("etc/x"), 0600u);
  EXPECT_EQ(Get(Path("journal/0/before")), "old");
  EXPECT_EQ(Mode("journal/0/before"), 0640u);
  EXPECT_EQ(Get(Path("journal/0/path")), Path("etc/x"));
  EXPECT_TRUE(std::filesystem::exists(Path("journal/1/absent")));
  EXPECT_EQ(Get(Path("journal/made")), Path("etc/new") + "\n" + Path("etc/new/deep") + "\n");
  EXPECT_EQ(Mode("etc/new/deep"), 0755u);
  EXPECT_EQ(Mode("journal"), 0700u);
}

TEST_F(ApplyScriptTest, AFileThatWasThereBeforeIsWrittenWithItsTime) {
  FileState state = State("x");
  state.mtime = "2023-11-14 22:13:20.123456789 +0000";
  const auto replies = Apply({WriteFile{Path("etc/x"), state}});
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].exit_code, 0) << replies[0].err;
  struct stat status = {};
  EXPECT_EQ(stat(Path("etc/x").c_str(), &status), 0);
  EXPECT_EQ(status.st_mtim.tv_sec, 1700000000);
  EXPECT_EQ(status.st_mtim.tv_nsec, 123456789);
}

TEST_F(ApplyScriptTest, AStepThatReloadsSystemdLeavesEveryNetworkFileItsInode) {
  const std::string systemd = Path("systemd");
  Put("systemd/network/10-netplan-mgmt.network", "[Match]\nName=mgmt\n");
  const auto inode = [&] {
    struct stat status = {};
    EXPECT_EQ(stat((systemd + "/network/10-netplan-mgmt.network").c_str(), &status), 0);
    return status.st_ino;
  };
  const auto before = inode();
  const std::string reload = "cd '" + systemd +
                             "'; rm -rf generator; mkdir generator; cd network; cp 10* new; "
                             "mv new 10*";
  const std::vector<Step> steps = {{0, RunCommand{{"sh", "-c", reload}}}};
  const std::string nonce = MakeNonce();
  ASSERT_EQ(RunRequest(BuildStageRequest(steps, 0, Path("journal")), nonce).exit_code, 0);
  const auto replies =
      ParseApplyReply(RunRequest("NETWORK='" + systemd + "/network'\nGENERATORS='" + systemd +
                                     "/generator'\nHOLD='" + Path("held") + "'\n" +
                                     BuildActivateRequest(steps, 0, Path("journal")),
                                 nonce),
                      nonce);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].exit_code, 0) << replies[0].err;
  EXPECT_EQ(inode(), before);
}

TEST_F(ApplyScriptTest, ACommandFindsTheJournalOfItsApply) {
  const auto replies = Apply({RunCommand{{"sh", "-c", "echo x >\"$SPARK_JOURNAL/aside\""}}});
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].exit_code, 0) << replies[0].err;
  EXPECT_EQ(Get(Path("journal/aside")), "x\n");
}

TEST_F(ApplyScriptTest, NoTemporaryFileStaysBehind) {
  Apply({WriteFile{Path("etc/x"), State("x")}});
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path("etc"))) {
    entries += !entry.path().empty();
  }
  EXPECT_EQ(entries, 1u);
}

TEST_F(ApplyScriptTest, ARemovalJournalsToo) {
  Put("etc/x", "old");
  EXPECT_EQ(Apply({RemoveFile{Path("etc/x")}})[0].exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("etc/x")));
  EXPECT_EQ(Get(Path("journal/0/before")), "old");
}

TEST_F(ApplyScriptTest, ASymbolicLinkIsNotReplaced) {
  Put("etc/target", "kept");
  std::filesystem::create_symlink("target", Path("etc/link"));
  const auto replies = Apply({WriteFile{Path("etc/link"), State("x")}});
  EXPECT_TRUE(replies.empty());
  EXPECT_EQ(staged_.exit_code, 1);
  EXPECT_EQ(staged_.err, Path("etc/link") + " is a symbolic link: it is not replaced\n");
  EXPECT_EQ(Get(Path("etc/target")), "kept");
}

// The journal keeps a path as one line.
TEST_F(ApplyScriptTest, APathOfTwoLinesIsRefused) {
  Put("etc/x", "kept");
  EXPECT_TRUE(Apply({RemoveFile{Path("etc/x\ny")}}).empty());
  EXPECT_EQ(staged_.exit_code, 1);
  EXPECT_EQ(staged_.err, "wanted a path of one line, found " + Path("etc/x\ny") + "\n");
  EXPECT_EQ(Get(Path("etc/x")), "kept");
}

TEST_F(ApplyScriptTest, NothingRunsAfterTheFirstFailure) {
  const auto replies = Apply(
      {RunCommand{{"sh", "-c", "echo first; exit 7"}}, WriteFile{Path("etc/never"), State("x")}});
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].exit_code, 7);
  EXPECT_EQ(replies[0].out, "first\n");
  EXPECT_FALSE(std::filesystem::exists(Path("etc/never")));
}

TEST_F(ApplyScriptTest, EveryValueIsTriedAndNothingRunsAfterOneThatFailed) {
  const auto set = [&](const std::string& command) {
    return RunCommand{.argv = {"sh", "-c", command}, .must_succeed = true};
  };
  const auto replies =
      Apply({set("echo one >&2; exit 1"), set("touch " + QuoteForShell(Path("two"))),
             set("echo three >&2; exit 1"), WriteFile{Path("etc/never"), State("x")}});
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].err, "one\n");
  EXPECT_EQ(replies[1].exit_code, 0);
  EXPECT_EQ(replies[2].err, "three\n");
  EXPECT_TRUE(std::filesystem::exists(Path("two")));
  EXPECT_FALSE(std::filesystem::exists(Path("etc/never")));
}

TEST_F(ApplyScriptTest, ANodeThatHasRevertedTriesNoFurtherValue) {
  const std::string revert = "ln -s revert " + QuoteForShell(Path("journal/decision"));
  const auto replies = Apply({RunCommand{.argv = {"sh", "-c", revert}, .must_succeed = true},
                              RunCommand{.argv = {"true"}, .must_succeed = true},
                              RunCommand{.argv = {"true"}, .must_succeed = true}});
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[1].err, "this node has reverted the plan\n");
}

TEST_F(ApplyScriptTest, APruneHasNothingToRestoreOnAPortThatIsGone) {
  const RunCommand set{
      .argv = {"sh", "-c", "exit 1"}, .must_succeed = true, .sets = Path("net/p0")};
  EXPECT_EQ(Apply({set}, true).at(0).exit_code, 0);
  // Its mark is that of the triggers that follow it.
  EXPECT_EQ(Get(Path("journal/0/command")),
            "nothing: " + Path("net/p0") + " is gone: there is nothing to restore\n");
  EXPECT_TRUE(std::filesystem::exists(Path("journal/0/begun")));
  EXPECT_EQ(Apply({set}).at(0).exit_code, 1);
  Put("net/p0/mtu", "1500\n");
  EXPECT_EQ(Apply({set}, true).at(0).exit_code, 1);
}

TEST_F(ApplyScriptTest, APruneGoesOnWithoutAValueWhoseProgramIsNotInstalledAnyMore) {
  Put("net/p0/mtu", "1500\n");
  const RunCommand set{
      .argv = {"no-such-program", "x"}, .must_succeed = true, .sets = Path("net/p0")};
  EXPECT_EQ(Apply({set}, true).at(0).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("journal/0/begun")));
  EXPECT_EQ(Apply({set}).at(0).exit_code, 127);
}

TEST(ListSteps, TriggersOfAPruneAreStepsOfAPrune) {
  const Change prune{.triggers = {{.argv = {"ip", "link"}, .sets = "/sys/class/net/p0"}},
                     .prune = true};
  ASSERT_EQ(ListSteps({&prune}).size(), 1u);
  EXPECT_TRUE(ListSteps({&prune})[0].prune);
}

TEST_F(ApplyScriptTest, AFullDiskLeavesTheOldFileWhole) {
  if (geteuid() != 0) GTEST_SKIP() << "mounting a small tmpfs needs root";
  std::filesystem::create_directories(Path("small"));
  if (Run("mount -t tmpfs -o size=64k none " + QuoteForShell(Path("small"))).exit_code != 0) {
    GTEST_SKIP() << "this machine does not let us mount a tmpfs";
  }
  Put("small/x", "old");
  const auto replies = Apply({WriteFile{Path("small/x"), State(std::string(200000, 'x'))}});
  const std::string after = Get(Path("small/x"));
  std::size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path("small"))) {
    entries += !entry.path().empty();
  }
  EXPECT_EQ(Run("umount " + QuoteForShell(Path("small"))).exit_code, 0);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_NE(replies[0].exit_code, 0);
  EXPECT_EQ(after, "old");
  EXPECT_EQ(entries, 1u);
}

TEST_F(ApplyScriptTest, ACommandOfAUserRunsInThatUsersHome) {
  const auto replies = Apply({RunCommand{{"pwd"}, 5, user_}});
  EXPECT_EQ(replies[0].exit_code, 0) << replies[0].err;
  EXPECT_EQ(replies[0].out, std::string(getpwuid(geteuid())->pw_dir) + "\n");
  EXPECT_EQ(Apply({RunCommand{{"pwd"}, 5, "no-such-user-here"}})[0].err,
            "no such user on this node: no-such-user-here\n");
}

TEST_F(ApplyScriptTest, ACommandIsEndedAtItsLimit) {
  EXPECT_EQ(Apply({RunCommand{{"sleep", "30"}, 1}})[0].exit_code, 124);
}

// Else the guard would find no progress since before the step, and revert while the controller
// decides.
TEST_F(ApplyScriptTest, AStepThatFailsIsProgressToo) {
  EXPECT_EQ(Apply({RunCommand{{"false"}, 900}})[0].exit_code, 1);
  EXPECT_THAT(Get(Path("journal/progress")), testing::MatchesRegex("[0-9]+ 0\n"));
}

TEST(ListSteps, TriggersRunOnceAfterEveryChange) {
  const RunCommand reload{.argv = {"systemctl", "daemon-reload"}, .id = "reload"};
  const RunCommand again{.argv = {"systemctl", "--quiet", "daemon-reload"}, .id = "reload"};
  const RunCommand restart{.argv = {"systemctl", "restart", "x"}, .id = "restart x"};
  const Change a{.actions = {RemoveFile{"/a"}}, .triggers = {reload, restart}};
  const Change b{.actions = {RemoveFile{"/b"}}, .triggers = {again}};
  const std::vector<Step> steps = ListSteps({&a, &b});
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[1].change, 1u);
  EXPECT_EQ(steps[2].action, Action(reload));
  EXPECT_EQ(steps[3].action, Action(restart));
  EXPECT_EQ(steps[3].change, Step::kTrigger);
}

TEST(ListSteps, ATriggerWithoutAnIdentityRunsAsOftenAsItIsListed) {
  const RunCommand clean{.argv = {"rm", "-rf", "/run/x"}};
  const Change a{.triggers = {clean, {.argv = {"generate"}, .id = "generate"}, clean}};
  const Change b{.triggers = {{.argv = {"generate"}, .id = "generate"}}};
  EXPECT_EQ(ListSteps({&a, &b}).size(), 3u);
}

// Numbers of the steps that a revert of the stage looks for.
std::set<std::size_t> FindLookedFor(const std::vector<Change>& changes) {
  std::set<std::size_t> numbers;
  for (const std::string& line : SplitLines(BuildRevertFunctions({{.changes = changes}}))) {
    if (!line.starts_with("if_begun ")) continue;
    numbers.insert(std::stoul(line.substr(std::string("if_begun ").size())));
  }
  return numbers;
}

TEST(IsMarked, WhateverARevertLooksForIsMarkedAndNoOtherTriggerIs) {
  const RunCommand set{.argv = {"set"}};
  const RunCommand reset{.argv = {"reset"}, .must_succeed = true};
  const RunCommand check{.argv = {"check"}, .id = "check"};
  const RunCommand reload{.argv = {"reload"}, .id = "reload"};
  const Change value{.actions = {set, set}, .revert = {reset}};
  const Change link{.revert = {reset}, .triggers = {check, reload}};
  const std::vector<std::vector<Change>> stages = {
      {value, link}, {link, value}, {link}, {value}, {value, value, link, link}};
  for (const std::vector<Change>& changes : stages) {
    std::vector<const Change*> pointers;
    for (const Change& change : changes) pointers.push_back(&change);
    const std::vector<Step> steps = ListSteps(pointers);
    const std::set<std::size_t> looked_for = FindLookedFor(changes);
    EXPECT_FALSE(looked_for.empty());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_TRUE(IsMarked(steps, i) || !looked_for.contains(i)) << i;
      EXPECT_FALSE(IsMarked(steps, i) && steps[i].action == Action(reload)) << i;
    }
  }
}

TEST_F(ApplyScriptTest, ATriggerThatNoRevertLooksForLeavesNothingInTheJournal) {
  const Change link{
      .triggers = {{.argv = {"true"}, .id = "check"}, {.argv = {"true"}, .id = "set"}}};
  const std::vector<Step> steps = ListSteps({&link});
  RunRequest(BuildStageRequest(steps, 0, Path("journal")), MakeNonce());
  const std::string nonce = MakeNonce();
  const auto replies =
      ParseApplyReply(RunRequest(BuildActivateRequest(steps, 0, Path("journal")), nonce), nonce);
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[1].exit_code, 0) << replies[1].err;
  EXPECT_TRUE(std::filesystem::exists(Path("journal/0/begun")));
  EXPECT_FALSE(std::filesystem::exists(Path("journal/1")));
}

TEST(BuildActivateRequest, WhatCannotReloadUnitsKeepsNoGeneratedFiles) {
  const auto activate = [](const RunCommand& command) {
    return BuildActivateRequest({{0, command}}, 0, "/journal");
  };
  EXPECT_THAT(activate({.argv = {"set"}, .sets = "/proc/sys/x"}),
              testing::HasSubstr("'run set' without_reload command_step 0 30 '' 'set'\n"));
  EXPECT_THAT(activate({.argv = {"copy"}, .without_reload = true}),
              testing::HasSubstr("'run copy' without_reload command_step 0 30 '' 'copy'\n"));
  EXPECT_THAT(activate({.argv = {"make"}, .makes = {"/run/x"}}),
              testing::HasSubstr("'run make' command_step 0 30 '' 'make'\n"));
  EXPECT_THAT(activate({.argv = {"reload"}}),
              testing::HasSubstr("'run reload' command_step 0 30 '' 'reload'\n"));
}

TEST_F(ApplyScriptTest, AFileThatIsNotWhatThePlanWasMadeFromIsNotStaged) {
  int journals = 0;
  const auto stage = [&](const std::string& name, std::string seen) {
    const ScriptReply reply = RunRequest(
        BuildStageRequest(
            {{.change = 0, .action = RemoveFile{Path("etc/other")}},
             {.change = 1, .action = WriteFile{Path(name), State("new")}, .seen = std::move(seen)}},
            0, Path(fmt::format("journal-{}", ++journals))),
        MakeNonce());
    EXPECT_EQ(reply.exit_code, reply.err.empty() ? 0 : 1);
    return reply.err;
  };
  Put("etc/x", "old");
  EXPECT_EQ(stage("etc/x", ComputeSha256Hex("old")), "");
  EXPECT_EQ(stage("etc/x", ComputeSha256Hex("older")),
            Path("etc/x") + " was changed since the plan was made\n");
  EXPECT_EQ(stage("etc/x", "absent"), Path("etc/x") + " was changed since the plan was made\n");
  EXPECT_EQ(stage("etc/none", ComputeSha256Hex("old")),
            Path("etc/none") + " was changed since the plan was made\n");
  EXPECT_EQ(stage("etc/none", "absent"), "");
}

TEST(ListSteps, AFileIsComparedWithWhatThePlanWasMadeFrom) {
  const auto seen = [](const Change& change) { return ListSteps({&change}).at(0).seen; };
  const WriteFile write{"/etc/a", {"new"}};
  EXPECT_EQ(seen({.kind = "file", .name = "/etc/a", .actions = {write}}), "absent");
  EXPECT_EQ(
      seen({.kind = "file", .name = "/etc/a", .actions = {write}, .before = FileState{"old"}}),
      ComputeSha256Hex("old"));
  EXPECT_EQ(seen({.kind = "key", .name = "/etc/a", .actions = {write}}), "");
  EXPECT_EQ(seen({.kind = "file", .name = "/etc/b", .actions = {write}}), "");
}

TEST(BuildStageRequest, TheFoldersOfAllMarkedStepsAreMadeTogether) {
  const RunCommand reload{.argv = {"reload"}};
  EXPECT_EQ(BuildStageRequest({{0, RemoveFile{"/etc/a"}},
                               {0, RunCommand{.argv = {"set"}}},
                               {Step::kTrigger, reload},
                               {Step::kTrigger, reload}},
                              7, "/journal"),
            "J='/journal'\nbegin_staging 7 8 9\nstage stage_remove 7 '/etc/a' ''\nend_staging\n");
}

TEST_F(ApplyScriptTest, AFileHasTheOwnerAndGroupOfItsAction) {
  if (geteuid() != 0) GTEST_SKIP() << "wanted root, which can give files away";
  FileState foreign = State("y", 0640);
  foreign.owner = foreign.group = "daemon";
  FileState shared = State("z");
  shared.group = "daemon";
  const passwd daemon = *getpwnam("daemon");
  // What is made below takes the group of the folder.
  std::filesystem::create_directory(Path("journal"));
  ASSERT_EQ(chown(Path("journal").c_str(), geteuid(), daemon.pw_gid), 0);
  ASSERT_EQ(chmod(Path("journal").c_str(), 02700), 0);
  Apply({WriteFile{Path("x"), State("x")}, WriteFile{Path("y"), foreign},
         WriteFile{Path("z"), shared}});
  const auto owner = [&](const std::string& name) {
    struct stat status = {};
    EXPECT_EQ(stat(Path(name).c_str(), &status), 0) << name;
    return std::pair(status.st_uid, status.st_gid);
  };
  EXPECT_EQ(owner("x"), std::pair(geteuid(), getegid()));
  EXPECT_EQ(owner("y"), std::pair(daemon.pw_uid, daemon.pw_gid));
  EXPECT_EQ(owner("z"), std::pair(geteuid(), daemon.pw_gid));
}

TEST(BuildStageRequest, AFileIsTriedWhereItsActionSays) {
  const auto stage = [](const Action& action) {
    return BuildStageRequest({{0, action}}, 0, "/journal");
  };
  EXPECT_THAT(stage(RemoveFile{"/etc/a", {"/run/a"}}),
              testing::HasSubstr("stage stage_remove 0 '/etc/a' '/run/a'\n"));
  EXPECT_THAT(stage(RemoveFile{"/etc/a"}),
              testing::HasSubstr("stage stage_remove 0 '/etc/a' ''\n"));
}

}  // namespace
}  // namespace reconciler
