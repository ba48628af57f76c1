#include "reconciler/node/node_program.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "reconciler/base/text.h"
#include "tests/support/fake_transport.h"
#include "tests/support/temporary_folder.h"

namespace reconciler {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Runs it as a node's shell does, from its standard input.
int RunAsNode(const fs::path& folder, const std::string& script) {
  const fs::path file = folder / "script";
  std::ofstream(file, std::ios::binary) << script;
  return std::system(("sh -s <" + file.string() + " 2>" + (folder / "errors").string()).c_str());
}

// A program that starts, followed by `count` bytes of all values.
std::string AllBytes(std::size_t count) {
  std::string bytes = "#!/bin/sh\nexit\n";
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  return bytes;
}

TEST(BuildUploadScript, EveryByteArrivesAndOnlyRootMayRunIt) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  for (const std::size_t size : {1u, 57u, 58u, 100'000u}) {
    const fs::path path = folder / "bin" / std::to_string(size);
    ASSERT_EQ(RunAsNode(folder, BuildUploadScript(AllBytes(size), path)), 0);
    EXPECT_EQ(ReadAll(path), AllBytes(size));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "bin"), {}), 4);
}

TEST(BuildUploadScript, TwoAtTheSameTimeDoNotMix) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  const std::string script = BuildUploadScript(AllBytes(1000), folder / "program");
  std::ofstream(folder / "other", std::ios::binary) << script;
  std::string first = script;
  first.insert(first.find("found="), "sh -s <" + (folder / "other").string() + " || exit 3\n");
  EXPECT_EQ(RunAsNode(folder, first), 0) << ReadAll(folder / "errors");
  EXPECT_EQ(ReadAll(folder / "program"), AllBytes(1000));
}

TEST(BuildUploadScript, AProgramThatDoesNotStartLeavesNothing) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  const std::string script =
      BuildUploadScript("#!/bin/sh\necho $1 >&2; exit 1\n", folder / "bin/program");
  EXPECT_EQ(WEXITSTATUS(RunAsNode(folder, script)), 3);
  EXPECT_TRUE(fs::is_empty(folder / "bin"));
  EXPECT_EQ(ReadAll(folder / "errors"), "--help\n");
}

// What PushProgram reports where the script of the upload ends with 3 and wrote `err`.
std::string PushToNodeThatSays(const std::string& err) {
  FakeNetwork network({});
  const test::TemporaryFolder fresh;
  std::ofstream(fresh.Path() / "spark-verify-riscv64") << "program";
  network.SetNode("spark-1", {.shell = [&](const std::string& script) {
                    if (script == "uname -m\n") return ScriptReply{.out = "riscv64\n"};
                    if (!script.ends_with("upload\n")) return ScriptReply{};
                    return ScriptReply{.exit_code = 3, .err = err};
                  }});
  NodePool pool(network.Dialer());
  const auto pushed = PushProgram({.name = "spark-1"}, pool, fresh.Path());
  EXPECT_TRUE(network.ListScripts("spark-1").back().ends_with(
      " /var/lib/spark-reconcile/bin /var/lib/spark-reconcile\n"));  // what removes the folders
  return pushed ? "" : pushed.error().message + " | " + pushed.error().hint;
}

TEST(PushProgram, WhyTheProgramDoesNotStartIsReported) {
  const std::string path = "/var/lib/spark-reconcile/bin/spark-verify-0";
  EXPECT_EQ(
      PushToNodeThatSays(path + ": /lib/libc.so.6: version `GLIBC_2.36' not found (required by " +
                         path + ")\n" + path + ": /lib/libc.so.6: version `GLIBC_2.38' not found " +
                         "(required by " + path + ")\n"),
      "wanted spark-verify to start on spark-1, found: version `GLIBC_2.38' not found | the "
      "libc of spark-1 is too old: use a spark-reconcile built on a release no newer than the "
      "node's");
  EXPECT_EQ(PushToNodeThatSays("sh: 41: " + path + ": Permission denied\n"),
            "wanted spark-verify to start on spark-1, found: Permission denied | mount the file "
            "system of /var/lib/spark-reconcile/bin without noexec");
  EXPECT_EQ(PushToNodeThatSays("\x1b[1m"),
            "wanted spark-verify to start on spark-1, found: \\x1b[1m | ");
  EXPECT_EQ(PushToNodeThatSays("Illegal instruction\n\n"),
            "wanted spark-verify to start on spark-1, found: Illegal instruction | ");
  EXPECT_EQ(PushToNodeThatSays("\n"), "wanted spark-verify to start on spark-1, found: nothing | ");
}

TEST(BuildClaimScript, AKeptProgramIsOneRunsAloneFromThenOn) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  fs::create_directories(folder / "bin");
  const fs::path kept = folder / "bin/spark-verify-0";
  std::ofstream(kept) << "program";
  fs::permissions(kept, fs::perms::owner_all);
  for (const std::string own : {"spark-verify-0a", "spark-verify-0b"}) {
    ASSERT_EQ(RunAsNode(folder, "exec >" + (folder / own).string() + "\n" +
                                    BuildClaimScript(kept, folder / "bin" / own)),
              0);
  }
  EXPECT_EQ(ReadAll(folder / "bin/spark-verify-0a"), "program");
  EXPECT_EQ(ReadAll(folder / "spark-verify-0a").size(), 65u);  // a digest and a newline
  EXPECT_EQ(ReadAll(folder / "spark-verify-0b"), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "bin"), {}), 1);
}

TEST(BuildClaimScript, WhatRunsLeftBehindIsRemovedAfterADay) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  fs::create_directories(folder / "bin");
  for (const std::string name : {"spark-verify-1a", "spark-verify-1b"}) {
    std::ofstream(folder / "bin" / name) << "program";
  }
  fs::last_write_time(folder / "bin/spark-verify-1a",
                      fs::file_time_type::clock::now() - std::chrono::hours(49));
  ASSERT_EQ(RunAsNode(folder, BuildClaimScript(folder / "bin/spark-verify-0",
                                               folder / "bin/spark-verify-0a")),
            0);
  EXPECT_FALSE(fs::exists(folder / "bin/spark-verify-1a"));
  EXPECT_TRUE(fs::exists(folder / "bin/spark-verify-1b"));
}

TEST(PushProgram, TwoCommandsNeverShareAFile) {
  FakeNetwork network({});
  const test::TemporaryFolder fresh;
  const fs::path& programs = fresh.Path();
  std::ofstream(programs / "spark-verify-riscv64") << "program";
  network.SetNode("spark-1", {.shell = [](const std::string& script) {
                    return ScriptReply{.out = script == "uname -m\n" ? "riscv64\n" : ""};
                  }});
  NodePool pool(network.Dialer());
  const NodeSpec node{.name = "spark-1"};
  const auto first = PushProgram(node, pool, programs);
  const auto second = PushProgram(node, pool, programs);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  KeepProgram(node, pool, *first);
  EXPECT_TRUE(network.ListScripts("spark-1").back().ends_with("keep_program '" + *first + "' '" +
                                                              GetProgramPath("program") + "'\n"));
}

TEST(RemoveProgram, TriesAgainWhereTheConnectionBroke) {
  FakeNetwork network(std::map<NodeName, FakeNode>{});
  FakeNode breaks{.shell =
                      [&network](const std::string&) {
                        network.SetNode("spark-1", {});
                        return ScriptReply{};
                      },
                  .drop_after = 0};
  network.SetNode("spark-1", breaks);
  NodePool pool(network.Dialer());
  NodeSpec node;
  node.name = "spark-1";
  RemoveProgram(node, pool, "/var/lib/spark-reconcile/bin/spark-verify-0");
  const std::vector<std::string> scripts = network.ListScripts("spark-1");
  ASSERT_EQ(scripts.size(), 2u);
  EXPECT_EQ(scripts[0], scripts[1]);
  EXPECT_TRUE(scripts[0].ends_with(
      "remove_program '/var/lib/spark-reconcile/bin/spark-verify-0' /var/lib/spark-reconcile/bin "
      "/var/lib/spark-reconcile\n"));
}

TEST(BuildUploadScript, BytesWithAnotherDigestLeaveNothing) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  std::string script = BuildUploadScript("MMM", folder / "bin/program");
  script.replace(script.find("TU1N"), 4, "TU1M");
  EXPECT_NE(RunAsNode(folder, script), 0);
  EXPECT_TRUE(fs::is_empty(folder / "bin"));
  EXPECT_EQ(ReadAll(folder / "errors").substr(0, 18), "wanted the digest ");
}

TEST(ChooseProgramFolder, BesideTheProgramOrInLibexecOfItsPrefix) {
  const test::TemporaryFolder fresh;
  const fs::path bin = fresh.Path() / "bin";
  const fs::path libexec = fresh.Path() / "libexec/spark-reconcile";
  fs::create_directories(bin);
  EXPECT_EQ(ChooseProgramFolder(bin), bin);
  fs::create_directories(libexec);
  EXPECT_EQ(ChooseProgramFolder(bin), libexec);
  std::ofstream(bin / "spark-verify") << "program";
  EXPECT_EQ(ChooseProgramFolder(bin), bin);
}

TEST(ReadProgram, OfAnotherMachineTypeHasItsTypeInTheName) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  std::ofstream(folder / "spark-verify-riscv64") << "program";
  EXPECT_EQ(*ReadProgram(folder, "riscv64"), "program");
  const auto missing = ReadProgram(folder, "s390x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "wanted the program " +
                                         (folder / "spark-verify-s390x").string() +
                                         " for a node of type s390x, found none");
  EXPECT_EQ(missing.error().hint,
            "build it and put it there: cmake --build build --target spark-verify-s390x (with "
            "s390x-linux-gnu-g++ installed)");
}

TEST(ReadProgram, WhatIsNoMachineTypeIsNoPartOfAFilesName) {
  for (const std::string machine : {"../x", "a b", "\x1b[2J", ""}) {
    const auto program = ReadProgram(test::TemporaryFolder().Path(), machine);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().message, "wanted a machine type like aarch64 of uname -m, found '" +
                                           MakePrintable(machine) + "'");
  }
}

TEST(ReadProgram, OfThisMachinesTypeIsTheOneThatIsBuiltAnyway) {
  const test::TemporaryFolder fresh;
  const fs::path& folder = fresh.Path();
  utsname own = {};
  uname(&own);
  const auto missing = ReadProgram(folder, own.machine);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().hint, "install or build it together with spark-reconcile");
  std::ofstream(folder / "spark-verify") << "own";
  EXPECT_EQ(*ReadProgram(folder, own.machine), "own");
}

}  // namespace
}  // namespace reconciler
