#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <sys/stat.h>

#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "tests/support/home_fixture.h"

// Files below a user's home are written, restored and removed by that user.
namespace reconciler {
namespace {

using testing::HasSubstr;

class ApplyHomeTest : public HomeTest {
 protected:
  std::string Journal() const { return Path("journal/0123456789abcdef"); }

  WriteFile Write(const std::string& below, const std::string& content) const {
    return {"~daemon/" + below, {content, 0600, kUser, getgrgid(gid_)->gr_name}};
  }
  ScriptReply Request(const std::string& calls) {
    return RunRequest(UserDatabase() + calls, MakeNonce());
  }
  ScriptReply Stage(const Action& action) {
    return Request(BuildStageRequest({{0, action}}, 0, Journal()));
  }
  // What the step said; empty: it was done.
  std::string Activate(const Action& action) {
    const std::string nonce = MakeNonce();
    const auto replies = ParseApplyReply(
        RunRequest(UserDatabase() + BuildActivateRequest({{0, action}}, 0, Journal()), nonce),
        nonce);
    if (replies.size() != 1) return "no reply";
    return replies[0].exit_code == 0 ? "" : replies[0].err;
  }
  std::string Apply(const Action& action) {
    const ScriptReply staged = Stage(action);
    return staged.exit_code == 0 ? Activate(action) : staged.err;
  }
  ScriptReply Revert(const Action& action, int boot = 0, const std::vector<Action>& commands = {}) {
    Put("guard",
        UserDatabase() + "sleep() { :; }\n" +
            BuildGuardScript(Journal(), {{.changes = {{.actions = {action}, .revert = commands}}}},
                             {.boot = boot}));
    return Run("sh " + QuoteForShell(Path("guard")) + " revert");
  }

  std::string Describe(const std::string& name) const {
    struct stat status = {};
    if (lstat(Path(name).c_str(), &status) != 0) return "absent";
    return fmt::format("{:o} {} {}", status.st_mode & 07777, status.st_uid, status.st_gid);
  }
  std::string Own(unsigned mode) const { return fmt::format("{:o} {} {}", mode, uid_, gid_); }
  std::size_t CountIn(const std::string& folder) const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(Path(folder)), {}));
  }
};

TEST_F(ApplyHomeTest, AWriteIsJournalledAndRevertedWithContentModeAndTime) {
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  MakeFolder("home/.ssh");
  PutOwn("home/.ssh/x", "old" + bytes);
  std::filesystem::permissions(Path("home/.ssh/x"), std::filesystem::perms(0640));
  const auto time = std::filesystem::last_write_time(Path("home/.ssh/x"));
  const Action action = Write(".ssh/x", bytes + "'$(id)'\n\n");
  EXPECT_EQ(Apply(action), "");
  EXPECT_EQ(Get(Path("home/.ssh/x")), bytes + "'$(id)'\n\n");
  EXPECT_EQ(Describe("home/.ssh/x"), Own(0600));
  EXPECT_EQ(Get(Journal() + "/0/before"), "old" + bytes);
  EXPECT_EQ(Request("J=" + Journal() + "\nprepare").exit_code, 0);
  const ScriptReply reply = Revert(action);
  EXPECT_EQ(reply.exit_code, 0) << reply.out << reply.err;
  EXPECT_EQ(Get(Path("home/.ssh/x")), "old" + bytes);
  EXPECT_EQ(Describe("home/.ssh/x"), Own(0640));
  EXPECT_EQ(std::filesystem::last_write_time(Path("home/.ssh/x")), time);
  EXPECT_EQ(CountIn("home/.ssh"), 1u);
}

TEST_F(ApplyHomeTest, FoldersAreTheUsersAloneAndGoWithTheFile) {
  const Action action = Write(".config/deep/x", "new\n");
  EXPECT_EQ(Apply(action), "");
  EXPECT_EQ(Describe("home/.config"), Own(0700));
  EXPECT_EQ(Describe("home/.config/deep"), Own(0700));
  EXPECT_EQ(Describe("home/.config/deep/x"), Own(0600));
  EXPECT_EQ(Revert(action).exit_code, 0);
  EXPECT_EQ(CountIn("home"), 0u);
}

TEST_F(ApplyHomeTest, AFolderWithSomethingElseInItStays) {
  const Action action = Write(".config/deep/x", "new\n");
  EXPECT_EQ(Apply(action), "");
  PutOwn("home/.config/other", "theirs\n");
  EXPECT_EQ(Revert(action).exit_code, 0);
  EXPECT_EQ(Describe("home/.config/deep"), "absent");
  EXPECT_EQ(Get(Path("home/.config/other")), "theirs\n");
}

TEST_F(ApplyHomeTest, ARemovalIsRevertedToo) {
  PutOwn("home/x", "old\n");
  const Action action = RemoveFile{"~daemon/x"};
  EXPECT_EQ(Apply(action), "");
  EXPECT_EQ(Describe("home/x"), "absent");
  EXPECT_EQ(Revert(action).exit_code, 0);
  EXPECT_EQ(Get(Path("home/x")), "old\n");
  EXPECT_EQ(Describe("home/x"), Own(0600));
}

TEST_F(ApplyHomeTest, AFolderThatIsALinkIsRefusedAndNothingIsMadeBehindIt) {
  Link(root_folder_, "home/.ssh");
  EXPECT_EQ(Apply(Write(".ssh/authorized_keys", "ssh-ed25519 AAAA\n")),
            Path("home/.ssh") + " is a symbolic link: it is not followed\n");
  EXPECT_EQ(Apply(Write(".ssh/deep/x", "x\n")),
            Path("home/.ssh") + " is a symbolic link: it is not followed\n");
  EXPECT_EQ(Apply(RemoveFile{"~daemon/.ssh/secret"}),
            Path("home/.ssh") + " is a symbolic link: it is not followed\n");
  EXPECT_EQ(CountRootFiles(), 1u);
  EXPECT_EQ(Get(root_folder_ + "/secret"), "of root alone\n");
}

TEST_F(ApplyHomeTest, AFileThatIsALinkOrNotTheUsersIsRefused) {
  MakeFolder("home/.ssh");
  Link(root_folder_ + "/secret", "home/.ssh/link");
  Put("home/.ssh/roots", "root's\n");
  std::filesystem::permissions(Path("home/.ssh/roots"), std::filesystem::perms(0644));
  MakeFolder("home/.ssh/folder");
  EXPECT_EQ(Apply(Write(".ssh/link", "x\n")),
            Path("home/.ssh/link") + " is a symbolic link: it is not followed\n");
  EXPECT_EQ(Apply(Write(".ssh/roots", "x\n")),
            Path("home/.ssh/roots") + " belongs to root, wanted daemon\n");
  EXPECT_EQ(Apply(Write(".ssh/folder", "x\n")),
            Path("home/.ssh/folder") + " is not a regular file\n");
  WriteFile roots = Write(".ssh/x", "x\n");
  roots.state.owner = "root";
  EXPECT_EQ(Apply(roots),
            Path("home/.ssh/x") + ": wanted the owner daemon, whose home it is in, found root\n");
  EXPECT_EQ(Get(root_folder_ + "/secret"), "of root alone\n");
  EXPECT_EQ(Get(Path("home/.ssh/roots")), "root's\n");
}

TEST_F(ApplyHomeTest, AFolderThatBecameALinkAfterItWasStagedIsRefused) {
  MakeFolder("home/.ssh");
  const Action action = Write(".ssh/secret", "ours\n");
  EXPECT_EQ(Stage(action).exit_code, 0);
  std::filesystem::remove(Path("home/.ssh"));
  Link(root_folder_, "home/.ssh");
  EXPECT_EQ(Activate(action), Path("home/.ssh") + " is a symbolic link: it is not followed\n");
  EXPECT_EQ(Get(root_folder_ + "/secret"), "of root alone\n");
}

TEST_F(ApplyHomeTest, ARevertFollowsNoLinkEither) {
  MakeFolder("home/.ssh");
  PutOwn("home/.ssh/secret", "old\n");
  const Action action = Write(".ssh/secret", "new\n");
  EXPECT_EQ(Apply(action), "");
  std::filesystem::rename(Path("home/.ssh"), Path("home/.kept"));
  Link(root_folder_, "home/.ssh");
  const ScriptReply reply = Revert(action);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_THAT(reply.out,
              HasSubstr(Path("home/.ssh") + " is a symbolic link: it is not followed\n"));
  // The second try is the last one: no user keeps a revert from ending.
  const ScriptReply again = Revert(action);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("cannot restore " + Path("home/.ssh/secret") + "\n"));
  EXPECT_EQ(CountRootFiles(), 1u);
  EXPECT_EQ(Get(root_folder_ + "/secret"), "of root alone\n");
}

// A home on another machine, or one that is unlocked by its user's login.
TEST_F(ApplyHomeTest, AHomeThatABootBringsLateIsWaitedFor) {
  PutOwn("home/x", "old\n");
  const Action action = Write("x", "new\n");
  EXPECT_EQ(Apply(action), "");
  const std::string mount = Get(Journal() + "/0/mount");
  ASSERT_THAT(mount, testing::StartsWith("/"));
  Put("journal/0123456789abcdef/0/mount", "/another/place\n");
  const int longer_than_any_uptime = 1'000'000'000;
  const RunCommand count{{"sh", "-c", "echo x >>" + Path("count")}};
  for (int i = 0; i < 3; ++i) {
    const ScriptReply reply = Revert(action, longer_than_any_uptime, {count});
    EXPECT_EQ(reply.exit_code, 1);
    EXPECT_THAT(reply.out,
                HasSubstr(fmt::format("{} lies on {}, and on /another/place when the apply began\n",
                                      Path("home"), Trim(mount))));
    EXPECT_EQ(Get(Path("home/x")), "new\n");
  }
  // Before the files and after them, of the first revert alone.
  EXPECT_EQ(Get(Path("count")), "x\nx\n");
  Put("journal/0123456789abcdef/0/mount", mount);
  EXPECT_EQ(Revert(action, longer_than_any_uptime, {count}).exit_code, 0);
  EXPECT_EQ(Get(Path("home/x")), "old\n");
  EXPECT_EQ(Get(Path("count")), "x\nx\n");
}

TEST_F(ApplyHomeTest, AnEditSinceThePlanWasMadeEndsTheStaging) {
  PutOwn("home/x", "of the plan\n");
  const auto stage = [&](std::string seen) {
    return Request(BuildStageRequest(
        {{.change = 0, .action = Write("x", "new\n"), .seen = std::move(seen)}}, 0, Journal()));
  };
  EXPECT_EQ(stage(ComputeSha256Hex("of the plan\n")).exit_code, 0);
  PutOwn("home/x", "theirs\n");
  const ScriptReply reply = stage(ComputeSha256Hex("of the plan\n"));
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.err, Path("home/x") + " was changed since the plan was made\n");
}

TEST_F(ApplyHomeTest, NothingIsWrittenOverAFileThatMovedSinceItWasJournalled) {
  PutOwn("home/x", "before\n");
  const Action action = Write("x", "after\n");
  EXPECT_EQ(Stage(action).exit_code, 0);
  PutOwn("home/x", "theirs\n");
  EXPECT_EQ(Activate(action), Path("home/x") + " was changed by another program meanwhile\n");
  EXPECT_EQ(Get(Path("home/x")), "theirs\n");
}

TEST_F(ApplyHomeTest, AnEditBeforeTheCommitForbidsIt) {
  const Action action = Write("x", "after\n");
  EXPECT_EQ(Apply(action), "");
  PutOwn("home/x", "theirs\n");
  EXPECT_EQ(Request("J=" + Journal() + "\nprepare").err,
            Path("home/x") + " was changed by another program meanwhile\n");
}

TEST_F(ApplyHomeTest, WhatTheUserWroteMeanwhileIsKeptBesideTheJournal) {
  PutOwn("home/x", "before\n");
  const Action action = Write("x", "after\n");
  EXPECT_EQ(Apply(action), "");
  PutOwn("home/x", "theirs\n");
  EXPECT_EQ(Revert(action).exit_code, 0);
  EXPECT_EQ(Get(Path("home/x")), "before\n");
  EXPECT_EQ(Get(Journal() + "/0/foreign"), "theirs\n");
}

TEST_F(ApplyHomeTest, AFullHomeLeavesTheOldFileWholeAndARevertNeedsNoRoom) {
  if (Run("mount -t tmpfs -o size=64k,mode=0711 none " + QuoteForShell(Path("home"))).exit_code !=
      0) {
    GTEST_SKIP() << "this machine does not let us mount a tmpfs";
  }
  MakeFolder("home/.ssh");
  PutOwn("home/.ssh/x", "old\n");
  PutOwn("home/.ssh/y", "old\n");
  const std::string said = Apply(Write(".ssh/y", std::string(200000, 'y')));
  std::filesystem::remove_all(Journal());
  const Action action = Write(".ssh/x", "new and longer\n");
  const std::string applied = Apply(action);
  Run("head -c 1M </dev/zero >" + QuoteForShell(Path("home/fill")));
  const ScriptReply reverted = Revert(action);
  const std::string x = Get(Path("home/.ssh/x"));
  const std::string y = Get(Path("home/.ssh/y"));
  const std::size_t files = CountIn("home/.ssh");
  EXPECT_EQ(Run("umount " + QuoteForShell(Path("home"))).exit_code, 0);
  EXPECT_THAT(said, HasSubstr("could not be written whole"));
  EXPECT_EQ(applied, "");
  EXPECT_EQ(reverted.exit_code, 0) << reverted.out << reverted.err;
  EXPECT_EQ(x, "old\n");
  EXPECT_EQ(y, "old\n");
  EXPECT_EQ(files, 2u);
}

// Another program of the user watches for our files and puts links in their place, all the time.
TEST_F(ApplyHomeTest, ALinkPutInPlaceOfOurFilesReachesNothingOfRoots) {
  const std::string before = Describe("root-only/secret");
  PutOwn("home/go", "");
  const std::string attack = fmt::format(
      "(cd {0} && while [ -e go ]; do"
      " for f in .ssh/.spark-reconcile.*; do [ ! -f \"$f\" ] || ln -sfn {1}/secret \"$f\"; done;"
      " mv -T .ssh .away && ln -sT {1} .ssh; rm -f .ssh; mv -T .away .ssh;"
      " done) >/dev/null 2>&1 &\n",
      QuoteForShell(Path("home")), QuoteForShell(root_folder_));
  MakeFolder("home/.ssh");
  Run(fmt::format("setpriv --reuid {} --regid {} --clear-groups sh -c {}", uid_, gid_,
                  QuoteForShell(attack)));
  for (int i = 0; i < 12; ++i) {
    const Action action = Write(".ssh/x", fmt::format("{}\n", i));
    Apply(action);  // done or refused: it is the user's own doing
    if (i % 3 == 0) Revert(action);
    std::filesystem::remove_all(Journal());
    EXPECT_EQ(Get(root_folder_ + "/secret"), "of root alone\n");
    EXPECT_EQ(Describe("root-only/secret"), before);
    EXPECT_EQ(CountRootFiles(), 1u);
  }
  std::filesystem::remove(Path("home/go"));
}

TEST_F(ApplyHomeTest, WhatRunsAsTheUserHoldsNoLockOfOurs) {
  const Action action = RunCommand{{"sh", "-c", "ls -l /proc/self/fd"}, 5, kUser};
  ASSERT_EQ(Stage(action).exit_code, 0);
  const std::string nonce = MakeNonce();
  const auto replies =
      ParseApplyReply(RunRequest(UserDatabase() + "exec 9>>" + QuoteForShell(Path("lock")) + "\n" +
                                     BuildActivateRequest({{0, action}}, 0, Journal()),
                                 nonce),
                      nonce);
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].exit_code, 0) << replies[0].err;
  EXPECT_THAT(replies[0].out, HasSubstr(" 2 -> "));
  EXPECT_THAT(replies[0].out, testing::Not(HasSubstr(Path("lock"))));
  EXPECT_THAT(replies[0].out, testing::Not(HasSubstr("/working")));
}

}  // namespace
}  // namespace reconciler
