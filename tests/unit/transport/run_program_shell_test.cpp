#include "reconciler/transport/run_program.h"

#include <fmt/format.h>

#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

Deadline After(std::chrono::milliseconds limit) {
  return std::chrono::steady_clock::now() + test::ScaleLimit(limit);
}

TEST(Program, ItsInputIsAFileThatItMayReadMoreThanOnce) {
  const std::string script = fmt::format("cat {0} {0}; echo wrong >&2; exit 3", kProgramInput);
  const auto reply = RunProgram({"sh", "-c", script}, "in\n", After(std::chrono::seconds(20)));
  ASSERT_TRUE(reply);
  ASSERT_TRUE(*reply);
  EXPECT_EQ((**reply).exit_code, 3);
  EXPECT_EQ((**reply).out, "in\nin\n");
  EXPECT_EQ((**reply).err, "wrong\n");
}

TEST(Program, OneThatDoesNotEndIsGivenUpInTime) {
  const auto begin = std::chrono::steady_clock::now();
  const auto reply = RunProgram({"sleep", "300"}, "", After(std::chrono::milliseconds(100)));
  ASSERT_TRUE(reply);
  EXPECT_FALSE(*reply);
  test::ExpectWithin(std::chrono::seconds(10), begin);
}

TEST(Program, OneThatIsNotThereIsAnError) {
  const auto reply = RunProgram({"no-such-program"}, "", After(std::chrono::seconds(20)));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "cannot run 'no-such-program': No such file or directory");
}

}  // namespace
}  // namespace reconciler
