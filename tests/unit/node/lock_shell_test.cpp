#include "reconciler/node/lock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using testing::Eq;
using testing::MatchesRegex;
using testing::Optional;

// The second line of a lease that this process would leave, of process `pid`.
std::string ProcessLine(int pid, const std::string& start = "1") {
  std::vector<std::string> words = Split(SplitLines(FormatLease())[1], ' ');
  words[1] = std::to_string(pid);
  words[4] = start;
  return Join(words, " ");
}

int FindUnusedPid() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(Lock, ALeaseNamesItsHolderAndItsProcess) {
  EXPECT_THAT(FormatLease(),
              MatchesRegex("[^ ]+@[^ ]+ pid [0-9]+ since 20[^ ]+Z\nprocess [0-9]+ [0-9a-f-]+ "
                           "pid:\\[[0-9]+\\] [0-9]+"));
}

TEST(Lock, AHolderThatRunsIsNotProvenToBeGone) {
  const std::string mine = SplitLines(FormatLease())[1];
  EXPECT_EQ(ExplainEndedHolder({.held = true, .process = mine, .overdue_s = -5}, 60), std::nullopt);
}

TEST(Lock, AProcessOfThisMachineThatIsGoneIsProof) {
  const int pid = FindUnusedPid();
  EXPECT_THAT(ExplainEndedHolder({.held = true, .process = ProcessLine(pid)}, 60),
              Optional(Eq(fmt::format("it was process {} of this machine, which does not run any "
                                      "more",
                                      pid))));
}

TEST(Lock, AnotherProcessWithItsNumberIsProofToo) {
  EXPECT_NE(ExplainEndedHolder({.held = true, .process = ProcessLine(getpid(), "1")}, 60),
            std::nullopt);
}

TEST(Lock, AProcessOfAnotherMachineOrContainerIsNoProof) {
  std::vector<std::string> words = Split(ProcessLine(FindUnusedPid()), ' ');
  words[3] = "pid:[1]";
  EXPECT_EQ(ExplainEndedHolder({.held = true, .process = Join(words, " ")}, 60), std::nullopt);
}

TEST(Lock, SilenceIsProofOnlyWhereItIsKnownUntilWhenItMayLast) {
  EXPECT_EQ(ExplainEndedHolder({.held = true}, 60), std::nullopt);
  EXPECT_EQ(ExplainEndedHolder({.held = true, .overdue_s = 60}, 60), std::nullopt);
  EXPECT_THAT(ExplainEndedHolder({.held = true, .overdue_s = 61}, 60),
              Optional(Eq("it has been silent for 61 s longer than its last request could take")));
}

}  // namespace
}  // namespace reconciler
