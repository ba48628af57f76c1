#include <sys/stat.h>

#include "reconciler/base/shell_values.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

// The folders below /run are the test's own here.
class KeepGeneratedTest : public ShellTest {
 protected:
  KeepGeneratedTest() {
    std::filesystem::create_directories(Path("systemd/network"));
    std::filesystem::create_directories(Path("journal"));
    Put("systemd/network/10-netplan-mgmt.network", "[Match]\nName=mgmt\n");
    Run("sleep 0.05");  // the folders' times differ from those of what follows
  }

  // `command`: for sh, with the network's files in the working directory.
  ScriptReply Request(const std::string& command, const std::string& before = "") {
    return RunKept("sh -c " + QuoteForShell(command), before);
  }
  ScriptReply RunKept(const std::string& argv, const std::string& before = "") {
    return RunRequest(before + "NETWORK=" + QuoteForShell(Path("systemd/network")) +
                          "\nGENERATORS=" + QuoteForShell(Path("systemd/generator")) + "\nHOLD=" +
                          QuoteForShell(Path(hold_)) + "\nJ=" + QuoteForShell(Path("journal")) +
                          "\ncd \"$NETWORK\"\n" + "keep_generated " + argv,
                      MakeNonce());
  }
  int Keep(const std::string& command) { return Request(command).exit_code; }

  // What systemd's reload does: its folders are new, and each generator writes all of its files.
  static std::string Reload(const std::string& content) {
    return "rm -rf ../generator; mkdir ../generator; rm -f 10-netplan-mgmt.network; printf %s '" +
           content + "' >10-netplan-mgmt.network";
  }

  ino_t Inode() const {
    struct stat status = {};
    EXPECT_EQ(stat(Path("systemd/network/10-netplan-mgmt.network").c_str(), &status), 0);
    return status.st_ino;
  }

  std::string Content() const { return Get(Path("systemd/network/10-netplan-mgmt.network")); }

  std::string hold_ = "held";
};

TEST_F(KeepGeneratedTest, AReloadOfSystemdLeavesEveryNetworkFileItsInodeAndTime) {
  const ino_t before = Inode();
  const auto time =
      std::filesystem::last_write_time(Path("systemd/network/10-netplan-mgmt.network"));
  EXPECT_EQ(Keep(Reload("[Match]\nName=mgmt\n")), 0);
  EXPECT_EQ(Inode(), before);
  EXPECT_EQ(std::filesystem::last_write_time(Path("systemd/network/10-netplan-mgmt.network")),
            time);
  EXPECT_FALSE(std::filesystem::exists(Path("held-journal")));
}

TEST_F(KeepGeneratedTest, AReloadOfSystemdBringsAboutNoEditOfAnotherInterface) {
  const ino_t before = Inode();
  EXPECT_EQ(Keep(Reload("edited, and not applied") + "; echo new | tee 20-new.network 21-new.link"),
            0);
  EXPECT_EQ(Inode(), before);
  EXPECT_EQ(Content(), "[Match]\nName=mgmt\n");
  EXPECT_FALSE(std::filesystem::exists(Path("systemd/network/20-new.network")));
  EXPECT_FALSE(std::filesystem::exists(Path("systemd/network/21-new.link")));
}

TEST_F(KeepGeneratedTest, WhatAReloadRemovesIsThereAgain) {
  const ino_t before = Inode();
  std::filesystem::create_directories(Path("systemd/generator"));
  EXPECT_EQ(Keep("rm -r ../generator; mkdir ../generator; rm -f *"), 0);
  EXPECT_EQ(Inode(), before);
}

TEST_F(KeepGeneratedTest, WhatAReloadRemovesReturnsWithItsFolder) {
  Put("systemd/network/a.network.d/1.conf", "[Network]\n");
  EXPECT_EQ(Keep(Reload("x") + "; rm -r a.network.d"), 0);
  EXPECT_EQ(Get(Path("systemd/network/a.network.d/1.conf")), "[Network]\n");
}

TEST_F(KeepGeneratedTest, WhatAnyOtherCommandWritesStays) {
  EXPECT_EQ(Keep("rm 10-netplan-mgmt.network; echo other >10-netplan-mgmt.network; echo >1"), 0);
  EXPECT_EQ(Content(), "other\n");
  EXPECT_TRUE(std::filesystem::exists(Path("systemd/network/1")));
}

TEST_F(KeepGeneratedTest, AReloadThatGeneratesNoUnitIsSeen) {
  std::filesystem::create_directories(Path("systemd/generator"));
  const ino_t before = Inode();
  EXPECT_EQ(Keep("rm -r ../generator; rm -f *"), 0);
  EXPECT_EQ(Inode(), before);
}

TEST_F(KeepGeneratedTest, OfACommandThatCannotReloadUnitsNothingIsKept) {
  EXPECT_EQ(Request("[ ! -e ../../held-journal ] && exit 5", "reloads=no\n").exit_code, 5);
}

TEST_F(KeepGeneratedTest, ACommandThatCannotReloadUnitsPutsBackWhatAReloadChangedThatWasCutOff) {
  const ino_t before = Inode();
  Keep(Reload("[Match]\nName=mgmt\n") + "; kill -KILL $PPID");
  EXPECT_EQ(Request("true", "reloads=no\n").exit_code, 0);
  EXPECT_EQ(Inode(), before);
}

// netplan 1.1 makes files for networkd, which is not root, with the umask that it has.
TEST_F(KeepGeneratedTest, ACommandHasTheUsualUmask) {
  EXPECT_EQ(Request("umask").out, "0022\n");
  EXPECT_EQ(Request("umask", "reloads=no\n").out, "0022\n");
  Put("file", "no folder can be made below it");
  hold_ = "file/held";
  EXPECT_EQ(Request("umask", "say() { :; }\n").out, "0022\n");
}

TEST_F(KeepGeneratedTest, NoFolderIsMadeWhereNoUnitIsGenerated) {
  EXPECT_EQ(Keep("echo >1"), 0);
  EXPECT_FALSE(std::filesystem::exists(Path("systemd/generator")));
  EXPECT_TRUE(std::filesystem::exists(Path("systemd/network/1")));
}

TEST_F(KeepGeneratedTest, ACommandsExitCodeIsItsOwn) {
  EXPECT_EQ(Keep("exit 7"), 7);
  EXPECT_EQ(Keep(Reload("x") + "; exit 7"), 7);
}

TEST_F(KeepGeneratedTest, AfterAReloadThatWasCutOffTheNextCommandPutsInodesBackAndNoOtherBytes) {
  const ino_t before = Inode();
  Keep(Reload("[Match]\nName=mgmt\n") + "; kill -KILL $PPID");
  ASSERT_NE(Inode(), before);
  EXPECT_EQ(Keep("true"), 0);
  EXPECT_EQ(Inode(), before);
  Keep("echo edited >new; mv new 10-netplan-mgmt.network; kill -KILL $PPID");
  EXPECT_EQ(Keep("true"), 0);
  EXPECT_EQ(Content(), "edited\n");
}

TEST_F(KeepGeneratedTest, ASessionRunsNothingThatItCannotPutBack) {
  Put("file", "no folder can be made below it");
  hold_ = "file/held";
  const ScriptReply reply = Request("echo ran >../ran");
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_TRUE(reply.err.ends_with("the files in " + Path("systemd/network") +
                                  " cannot be kept: no links to them in " +
                                  Path("file/held-journal") + "\n"))
      << reply.err;
  EXPECT_FALSE(std::filesystem::exists(Path("systemd/ran")));
}

TEST_F(KeepGeneratedTest, ARevertRunsItAllTheSameAndRemovesNoFile) {
  Put("file", "no folder can be made below it");
  hold_ = "file/held";
  const ScriptReply reply = Request(Reload("new") + "; echo ran >../ran", "say() { :; }\n");
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(Path("systemd/ran")));
  EXPECT_EQ(Content(), "new");
}

}  // namespace
}  // namespace reconciler
