#include "reconciler/gather/gather_script.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "plugins/common/commands/in_place.h"
#include "reconciler/base/number.h"
#include "reconciler/model/ledger.h"
#include "reconciler/node/frames.h"
#include "tests/support/run_here.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class GatherScriptTest : public ShellTest {
 protected:
  ProbeReply Gather(const std::vector<Read>& reads) {
    const std::string nonce = MakeNonce();
    const auto reply = ParseGatherReply(Run(BuildGatherScript(reads, nonce, directory_)), reads,
                                        nonce, directory_);
    EXPECT_TRUE(reply) << FormatError(reply.error());
    return *reply;
  }
};

TEST_F(GatherScriptTest, FilesComeWithEveryByteModeAndOwner) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  Put("etc/bytes", bytes + "\n\nno newline at the end");
  Put("etc/empty", "");
  Put("etc/with 'quote $(x)", "second\n");
  std::filesystem::permissions(Path("etc/bytes"), std::filesystem::perms(0640));
  const ProbeReply reply = Gather({ReadFile{"/etc/bytes"}, ReadFile{"/etc/empty"},
                                   ReadFile{"/etc/with 'quote $(x)"}, ReadFile{"/etc/none"}});
  const auto* file = Known(reply.files.at("/etc/bytes"));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->content, bytes + "\n\nno newline at the end");
  EXPECT_EQ(file->mode, 0640u);
  EXPECT_EQ(file->owner, user_);
  EXPECT_EQ(Known(reply.files.at("/etc/empty"))->content, "");
  EXPECT_EQ(Known(reply.files.at("/etc/with 'quote $(x)"))->content, "second\n");
  EXPECT_TRUE(std::holds_alternative<Absent>(reply.files.at("/etc/none")));
}

TEST_F(GatherScriptTest, AnOwnerWithoutANameIsItsNumber) {
  if (user_ != "root") GTEST_SKIP() << "root alone can give a file away";
  Put("etc/left", "x\n");
  ASSERT_EQ(chown(Path("etc/left").c_str(), 54321, 54322), 0);
  const ProbeReply reply = Gather({ReadFile{"/etc/left"}});
  const auto* file = Known(reply.files.at("/etc/left"));
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->owner, "54321");
  EXPECT_EQ(file->group, "54322");
}

TEST_F(GatherScriptTest, APatternFindsItsFilesAndNothingWhenThereAreNone) {
  Put("etc/netplan/01.yaml", "a");
  Put("etc/netplan/02.yaml", "b");
  Put("etc/netplan/other", "c");
  const ProbeReply reply = Gather({ReadFiles{"/etc/netplan/*.yaml"}, ReadFiles{"/run/none/*"}});
  EXPECT_EQ(reply.files.size(), 2u);
  EXPECT_EQ(Known(reply.files.at("/etc/netplan/02.yaml"))->content, "b");
}

TEST_F(GatherScriptTest, AFileThatIsNamedTwiceIsLookedAtAndReadOnce) {
  Put("etc/one", "1\n");
  Put("var/list", "/etc/one\n/etc/two\n/etc/none\n\n/etc/two\n");
  Put("etc/two", "2\n");
  const std::string nonce = MakeNonce();
  const std::vector<Read> reads = {ReadFile{"/etc/one"}, ReadFile{"/etc/none"},
                                   ReadListed{"/var/list"}};
  const ScriptReply said = Run(BuildGatherScript(reads, nonce, directory_));
  std::map<std::string, std::ptrdiff_t> records;
  for (const Frame& frame : ParseFrames(said, nonce)) {
    records[frame.label] = std::count(frame.out.begin(), frame.out.end(), '\0');
  }
  EXPECT_EQ(records["files"], 5);  // one, none, the list, two, and the folder of an empty line
  EXPECT_EQ(records["stat"], 3);
  const auto reply = ParseGatherReply(said, reads, nonce, directory_);
  ASSERT_TRUE(reply);
  EXPECT_EQ(Known(reply->files.at("/etc/two"))->content, "2\n");
}

TEST_F(GatherScriptTest, WhatIsNoPlainFileIsUnknownWithItsReason) {
  Put("etc/target", "x");
  std::filesystem::create_symlink("target", Path("etc/link"));
  std::filesystem::create_symlink("/dev/null", Path("etc/masked"));
  std::filesystem::create_directories(Path("etc/directory"));
  Put("etc/large", std::string((1 << 20) + 1, 'x'));
  Put("etc/last", "still right\n");
  const ProbeReply reply =
      Gather({ReadFile{"/etc/link"}, ReadFile{"/etc/masked"}, ReadFile{"/etc/directory"},
              ReadFile{"/etc/large"}, ReadFile{"/etc/last"}});
  const auto why = [&](const char* path) { return std::get<Unknown>(reply.files.at(path)).why; };
  EXPECT_EQ(why("/etc/link"), "is a symbolic link");
  EXPECT_EQ(why("/etc/masked"), "is a link to /dev/null");
  EXPECT_TRUE(IsLinkToNull(reply.files.at("/etc/masked")));
  EXPECT_EQ(why("/etc/directory"), "is not a regular file");
  EXPECT_EQ(why("/etc/large"), "larger than 1 MiB");
  EXPECT_EQ(Known(reply.files.at("/etc/last"))->content, "still right\n");
}

TEST_F(GatherScriptTest, TheLedgerMayBeLongerThanAnotherFile) {
  const std::string path(kLedgerFile);
  Put("etc/first", "first\n");
  Put("etc/last", "still right\n");
  std::string text;
  const auto read = [&](std::size_t size) {
    text.clear();
    for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>(i % 251));
    Put(path.substr(1), text);
    const ProbeReply reply =
        Gather({ReadFile{"/etc/first"}, ReadFile{path}, ReadFile{"/etc/last"}});
    EXPECT_EQ(Known(reply.files.at("/etc/first"))->content, "first\n");
    EXPECT_EQ(Known(reply.files.at("/etc/last"))->content, "still right\n");
    return reply.files.at(path);
  };
  for (const std::size_t size : {std::size_t{(1 << 20) + 1}, kLargestLedger}) {
    const Observed<FileState> ledger = read(size);
    ASSERT_NE(Known(ledger), nullptr);
    EXPECT_TRUE(Known(ledger)->content == text) << size;
  }
  for (const std::size_t size : {kLargestLedger + 1, kLargestLedger + 100}) {
    EXPECT_EQ(std::get<Unknown>(read(size)).why, "larger than 8 MiB");
  }
}

TEST_F(GatherScriptTest, ValuesAreTheFirstLinesAndAMissingOneIsAbsent) {
  Put("sys/class/net/eth0/mtu", "1500\n");
  Put("sys/class/net/eth1/mtu", "9000\nsecond line\n");
  std::filesystem::create_directories(Path("proc/sys/net"));
  const ProbeReply reply =
      Gather({ReadValues{"/sys/class/net/*/mtu"}, ReadValue{"/proc/sys/net/none"},
              ReadValue{"/proc/sys/net"}, ReadValues{"/sys/nothing/*"}});
  EXPECT_EQ(*Known(reply.values.at("/sys/class/net/eth0/mtu")), "1500");
  EXPECT_EQ(*Known(reply.values.at("/sys/class/net/eth1/mtu")), "9000");
  EXPECT_TRUE(std::holds_alternative<Absent>(reply.values.at("/proc/sys/net/none")));
  EXPECT_EQ(std::get<Unknown>(reply.values.at("/proc/sys/net")).why, "Is a directory");
  EXPECT_EQ(reply.values.size(), 4u);
}

TEST_F(GatherScriptTest, CommandsKeepTheirStreamsExitCodesAndLimits) {
  const ProbeReply reply =
      Gather({RunProbe{"both", {"sh", "-c", "echo out; echo err >&2; exit 3"}},
              RunProbe{"quote", {"printf", "%s", "it's $HOME \n"}},
              RunProbe{"missing", {"no-such-program-here"}}, RunProbe{"slow", {"sleep", "30"}, 1},
              RunProbe{"input", {"cat"}}});
  EXPECT_EQ(reply.commands.at("both").out, "out\n");
  EXPECT_EQ(reply.commands.at("both").err, "err\n");
  EXPECT_EQ(reply.commands.at("both").exit_code, 3);
  EXPECT_EQ(reply.commands.at("quote").out, "it's $HOME \n");
  EXPECT_EQ(reply.commands.at("missing").exit_code, 127);
  EXPECT_EQ(reply.commands.at("slow").exit_code, 124);
  EXPECT_EQ(reply.commands.at("input").out, "");  // no command eats the rest of the script
}

TEST_F(GatherScriptTest, ACommandThatHangsHidesNoOther) {
  const ProbeReply reply = Gather({RunProbe{"before", {"echo", "1"}},
                                   RunProbe{"slow", {"sh", "-c", "echo begun; sleep 30"}, 1},
                                   RunProbe{"after", {"sh", "-c", "echo 2; exit 4"}}});
  EXPECT_EQ(reply.commands.at("before").out, "1\n");
  EXPECT_EQ(reply.commands.at("slow").out, "begun\n");
  EXPECT_EQ(reply.commands.at("slow").exit_code, 124);
  EXPECT_EQ(reply.commands.at("after").out, "2\n");
  EXPECT_EQ(reply.commands.at("after").exit_code, 4);
}

TEST_F(GatherScriptTest, ShortCommandsRunOnceAndSeeNothingOfEachOther) {
  const std::string file = Path("runs");
  const ProbeReply reply = Gather(
      {RunProbe{"count", {"sh", "-c", "echo run >>\"$1\"; x=1; cd /tmp; set -f", "sh", file}},
       RunProbe{"arguments", {"sh", "-c", "printf '%s|' \"$@\" \"$x\" \"$PWD\"", "sh", "a b", ""}},
       RunProbe{"read", {"cat", file}}});
  EXPECT_EQ(reply.commands.at("read").out, "run\n");
  EXPECT_EQ(reply.commands.at("arguments").out, "a b|||/|");
}

TEST_F(GatherScriptTest, TheStatusOfTheLastShortCommandIsKnownWhereALongOneFollows) {
  const ProbeReply reply = Gather({RunProbe{"short", {"sh", "-c", "exit 3"}},
                                   RunProbe{"long", {"sh", "-c", "echo 2; exit 4"}, 6}});
  EXPECT_EQ(reply.commands.at("short").exit_code, 3);
  EXPECT_EQ(reply.commands.at("long").out, "2\n");
  EXPECT_EQ(reply.commands.at("long").exit_code, 4);
}

TEST_F(GatherScriptTest, ProbesOfOneIdAreOneCommandWithTheOperandsOfAll) {
  const auto print = [](const char* id, std::vector<std::string> operands) {
    return RunProbe{.id = id, .argv = {"printf", "<%s>"}, .operands = std::move(operands)};
  };
  const ProbeReply reply = Gather({print("one", {"b", "a c"}), print("other", {"b"}),
                                   print("one", {"-d", "b"}), print("one", {})});
  EXPECT_EQ(reply.commands.at("one").out, "<b><a c><-d>");
  EXPECT_EQ(reply.commands.at("other").out, "<b>");
}

TEST_F(GatherScriptTest, WhatRunsInPlaceHasItsOwnArgumentsAndStatus) {
  const ProbeReply reply = Gather(
      {RunProbe{"before", {"sh", "-c", "echo \"$NONCE$COMMANDS\"; exit 2"}},
       plugins::MakeInPlaceProbe("first", "shift\nprintf '%s|' \"$@\"\nreturn 3\n",
                                 {"a b", "it's", "\1\n*"}),
       plugins::MakeInPlaceProbe("second", "echo \"$#\" >&2\n[ -z \"$*\" ]\n"),
       RunProbe{"after",
                {"sh", "-c", "echo \"$#\"; env | grep -c -e CALLS -e FUNCTIONS -e together"}}});
  EXPECT_EQ(reply.commands.at("before").out, "\n");
  EXPECT_EQ(reply.commands.at("before").exit_code, 2);
  EXPECT_EQ(reply.commands.at("first").out, "it's|\1\n*|");
  EXPECT_EQ(reply.commands.at("first").exit_code, 3);
  EXPECT_EQ(reply.commands.at("second").err, "0\n");
  EXPECT_EQ(reply.commands.at("second").exit_code, 0);
  EXPECT_EQ(reply.commands.at("after").out, "0\n0\n");
}

// Neither what never ends nor what ends the shell itself.
TEST_F(GatherScriptTest, WhatRunsInPlaceHidesNoOther) {
  const ProbeReply reply =
      Gather({RunProbe{"before", {"echo", "1"}}, plugins::MakeInPlaceProbe("ends", "exit 7\n"),
              plugins::MakeInPlaceProbe("hangs", "echo begun\nsleep 30\n", {}, 1),
              plugins::MakeInPlaceProbe("after", "echo \"$1\"\nreturn 4\n", {"2"})});
  EXPECT_EQ(reply.commands.at("before").out, "1\n");
  EXPECT_EQ(reply.commands.at("ends").exit_code, 7);
  EXPECT_EQ(reply.commands.at("hangs").out, "begun\n");
  EXPECT_EQ(reply.commands.at("hangs").exit_code, 124);
  EXPECT_EQ(reply.commands.at("after").out, "2\n");
  EXPECT_EQ(reply.commands.at("after").exit_code, 4);
}

TEST_F(GatherScriptTest, WhatEndsTheShellWithoutAnErrorHidesNoOther) {
  const ProbeReply reply = Gather({plugins::MakeInPlaceProbe("ends", "exit 0\n"),
                                   plugins::MakeInPlaceProbe("after", "echo 2\n")});
  EXPECT_EQ(reply.commands.at("ends").exit_code, 0);
  EXPECT_EQ(reply.commands.at("after").out, "2\n");
}

// How many processes a script starts: a new namespace numbers them from 1 on, which is the shell
// that counts. The script's own is 2. 0: no namespace can be made here.
int CountProcesses(const std::string& count, const std::string& script) {
  std::vector<std::string> argv = {"unshare", "--pid", "--fork"};
  if (geteuid() != 0) argv.insert(argv.end(), {"--user", "--map-root-user"});
  argv.insert(argv.end(), {"sh", count, script});
  const CommandReply reply = test::RunHere(argv);
  return ParseNumber<int>(Trim(reply.out)).value_or(3) - 3;
}

TEST_F(GatherScriptTest, SixProcessesReadAllFilesAndValuesAndEachCommandApartTakesOneMore) {
  Put("count", "sh \"$1\" >/dev/null 2>&1 </dev/null\nsh -c 'echo $$'\n:\n");
  std::vector<Read> reads;
  const auto count = [&] {
    Put("script", BuildGatherScript(reads, "nonce", directory_));
    return CountProcesses(Path("count"), Path("script"));
  };
  for (int i = 0; i < 20; ++i) {
    const std::string name = fmt::format("/etc/{}", i);
    Put(name.substr(1), "x\n");
    reads.insert(reads.end(), {ReadFile{name}, ReadValue{name},
                               plugins::MakeInPlaceProbe(name, "read -r x </proc/uptime\n")});
  }
  const int in_place = count();
  if (in_place == 0) GTEST_SKIP() << "no namespace of processes can be made here";
  EXPECT_EQ(in_place, 6);  // stat, head, stat, grep, timeout, sh
  for (int i = 0; i < 5; ++i) {
    reads.push_back(RunProbe{fmt::format("apart.{}", i), {"sh", "-c", ":"}});
    reads.push_back(RunProbe{fmt::format("program.{}", i), {"true"}});
  }
  EXPECT_EQ(count(), 16);
}

TEST_F(GatherScriptTest, AHomeIsFoundInTheUserDatabase) {
  const std::string home = getpwuid(geteuid())->pw_dir;
  Put(home.substr(1) + "/.ssh/config", "Host x\n");
  const std::string path = "~" + user_ + "/.ssh/config";
  const ProbeReply reply = Gather({ReadFile{path}, ReadFile{"~no-such-user-here/.ssh/config"}});
  ASSERT_TRUE(reply.files.contains(path));
  ASSERT_NE(Known(reply.files.at(path)), nullptr);
  EXPECT_EQ(Known(reply.files.at(path))->content, "Host x\n");
  EXPECT_EQ(std::get<Unknown>(reply.files.at("~no-such-user-here/.ssh/config")).why,
            "no user no-such-user-here on this node");
  EXPECT_EQ(reply.files.size(), 2u);
}

TEST_F(GatherScriptTest, AnAnswerThatEndsEarlyIsAnErrorThatNamesThePart) {
  const std::vector<Read> reads = {ReadFile{"/etc/hosts"}};
  const std::string nonce = MakeNonce();
  ScriptReply reply = Run(BuildGatherScript(reads, nonce));
  reply.out.resize(reply.out.find(nonce + " content"));
  EXPECT_EQ(ParseGatherReply(reply, reads, nonce).error().message,
            "the node's answer ended before its part 'content'");
}

}  // namespace
}  // namespace reconciler
