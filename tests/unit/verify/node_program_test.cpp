#include "reconciler/verify/node_program.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

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

fs::path FreshFolder(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string AllBytes(std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  return bytes;
}

TEST(Base64, IsTheStandardsForm) {
  EXPECT_EQ(Base64("M"), "TQ==\n");
  EXPECT_EQ(Base64("Ma"), "TWE=\n");
  EXPECT_EQ(Base64("Man"), "TWFu\n");
  EXPECT_EQ(Base64("\xff\xff\xff"), "////\n");
  EXPECT_EQ(Base64(std::string(58, 'a')).find('\n'), 76u);
}

TEST(UploadScript, EveryByteArrivesAndOnlyRootMayRunIt) {
  const fs::path folder = FreshFolder("upload_right");
  for (const std::size_t size : {1u, 57u, 58u, 100'000u}) {
    const fs::path path = folder / "bin" / std::to_string(size);
    ASSERT_EQ(RunAsNode(folder, UploadScript(AllBytes(size), path)), 0);
    EXPECT_EQ(ReadAll(path), AllBytes(size));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    EXPECT_FALSE(fs::exists(path.string() + ".new"));
  }
}

TEST(UploadScript, BytesWithAnotherDigestLeaveNothing) {
  const fs::path folder = FreshFolder("upload_wrong");
  std::string script = UploadScript("MMM", folder / "bin/program");
  script.replace(script.find("TU1N"), 4, "TU1M");
  EXPECT_NE(RunAsNode(folder, script), 0);
  EXPECT_TRUE(fs::is_empty(folder / "bin"));
  EXPECT_EQ(ReadAll(folder / "errors").substr(0, 18), "wanted the digest ");
}

TEST(ReadProgram, OfAnotherMachineTypeHasItsTypeInTheName) {
  const fs::path folder = FreshFolder("programs");
  std::ofstream(folder / "spark-verify-riscv64") << "program";
  EXPECT_EQ(*ReadProgram(folder, "riscv64"), "program");
  const auto missing = ReadProgram(folder, "s390x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "wanted the program " +
                                         (folder / "spark-verify-s390x").string() +
                                         " for a node of type s390x, found none");
  EXPECT_EQ(
      missing.error().hint,
      "build it beside spark-reconcile: cmake --build build --target spark-verify-s390x (with "
      "g++-s390x-linux-gnu installed)");
}

TEST(ReadProgram, OfThisMachinesTypeIsTheOneThatIsBuiltAnyway) {
  const fs::path folder = FreshFolder("own_program");
  utsname own = {};
  uname(&own);
  const auto missing = ReadProgram(folder, own.machine);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().hint, "it is built with spark-reconcile and lies beside it");
  std::ofstream(folder / "spark-verify") << "own";
  EXPECT_EQ(*ReadProgram(folder, own.machine), "own");
}

}  // namespace
}  // namespace reconciler
