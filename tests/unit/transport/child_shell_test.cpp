#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "reconciler/transport/posix.h"

namespace reconciler {
namespace {

std::optional<int> RunChild(const std::vector<std::string>& argv) {
  auto child = Child::Spawn(argv, {});
  if (!child) return std::nullopt;
  const auto code = child->Wait(std::chrono::steady_clock::now() + std::chrono::seconds(20));
  EXPECT_FALSE(child->Running());
  return code;
}

TEST(Child, ItsExitCodeIsRead) {
  EXPECT_EQ(RunChild({"sh", "-c", "exit 3"}), 3);
  EXPECT_EQ(RunChild({"sh", "-c", "kill -KILL $$"}), 137);
}

// As a parent may leave it to its children.
TEST(Child, OneThatEndsIsNotWaitedForWhereSigchldIsIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(RunChild({"true"}), 127);
  std::signal(SIGCHLD, before);
}

}  // namespace
}  // namespace reconciler
