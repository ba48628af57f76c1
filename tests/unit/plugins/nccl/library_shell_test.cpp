#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "plugins/nccl/library.h"
#include "tests/support/run_here.h"
#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

// The NCCL that the loader of this machine finds, or of its CUDA toolkit.
std::string SomeLibnccl() {
  for (const char* path :
       {"/usr/local/cuda/lib/libnccl.so.2", "/usr/local/cuda/lib64/libnccl.so.2",
        "/usr/lib/x86_64-linux-gnu/libnccl.so.2", "/usr/lib/aarch64-linux-gnu/libnccl.so.2"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

TEST(NcclLibrary, RealLibraryReportsItsVersionAndItsVariables) {
  const std::string path = SomeLibnccl();
  if (path.empty()) GTEST_SKIP() << "no libnccl on this machine";
  NodeFacts facts;
  StoreLibrary(reconciler::test::RunHere(MakeLibraryProbe({.library = path}).argv), facts);
  const NcclLibrary* library = Known(facts.nccl.library);
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->path, path);
  EXPECT_THAT(library->version, testing::MatchesRegex("2\\.[0-9]+\\.[0-9]+"));
  for (const char* name : {"NCCL_IB_HCA", "NCCL_DEBUG", "NCCL_MIN_NCHANNELS"}) {
    EXPECT_TRUE(library->Knows(name)) << name;
  }
  for (const char* name : {"NCCL_NCHANNELS", "NCCL_TIMEOUT", "NCCL_BLOCKING_WAIT"}) {
    EXPECT_FALSE(library->Knows(name)) << name;
  }
}

TEST(NcclLibrary, NoLibraryIsAbsentAndAFileThatIsNoneIsUnknown) {
  NodeFacts facts;
  StoreLibrary(
      reconciler::test::RunHere(MakeLibraryProbe({.library = "/nonexistent/libnccl.so.2"}).argv),
      facts);
  EXPECT_EQ(facts.nccl.library, Observed<NcclLibrary>(Absent{}));
  StoreLibrary(reconciler::test::RunHere(MakeLibraryProbe({.library = "/etc/passwd"}).argv), facts);
  ASSERT_NE(FindUnknown(facts.nccl.library), nullptr);
  EXPECT_EQ(FindUnknown(facts.nccl.library)->why,
            "/etc/passwd names no variable: is it a libnccl?");
  StoreLibrary({.exit_code = 124}, facts);
  EXPECT_EQ(FindUnknown(facts.nccl.library)->why, "reading libnccl took longer than 20 s");
}

}  // namespace
}  // namespace reconciler::plugins::nccl
