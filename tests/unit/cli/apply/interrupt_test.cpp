#include "reconciler/cli/apply/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>

namespace reconciler::cli {
namespace {

constexpr char kStays[] =
    "the apply is committed on every node and stays; only its verification was interrupted\n"
    "  hint: `verify` runs it\n";

class Interrupt : public testing::Test {
 protected:
  ~Interrupt() override { EnterInterruptPhase(InterruptPhase::kNone); }

  // What is said when one comes in `phase`.
  static std::string Say(InterruptPhase phase) {
    Enter(phase);
    testing::internal::CaptureStderr();
    std::raise(SIGINT);
    return testing::internal::GetCapturedStderr();
  }
  static void Enter(InterruptPhase phase) {
    SetInterruptTimes({.revert_after_s = 90, .moment_s = 30});
    EnterInterruptPhase(phase);
  }
};

TEST_F(Interrupt, BeforeTheCommitItStopsTheApply) {
  EXPECT_EQ(Say(InterruptPhase::kTrial),
            "stopping before the next stage, then every node reverts\n");
  EXPECT_TRUE(IsApplyStopped());
  EnterInterruptPhase(InterruptPhase::kCommit);
  EXPECT_TRUE(IsApplyStopped()) << "no commit begins after it";
  EnterInterruptPhase(InterruptPhase::kRevert);
  EXPECT_TRUE(IsApplyStopped());
}

TEST_F(Interrupt, WhileAnEarlierApplyIsEndedItStopsWhatWouldFollow) {
  EXPECT_EQ(Say(InterruptPhase::kEnd),
            "the earlier apply is being ended: this stops when it has, and applies nothing\n");
  EXPECT_TRUE(IsInterrupted());
}

TEST_F(Interrupt, DuringTheCommitTheApplyStays) {
  Enter(InterruptPhase::kTrial);
  EXPECT_EQ(Say(InterruptPhase::kCommit),
            "the commit has begun: it is completed, and the apply stays\n");
  EXPECT_FALSE(IsApplyStopped());
  EXPECT_TRUE(IsInterrupted());
}

TEST_F(Interrupt, DuringARevertItIsWaitedFor) {
  EXPECT_EQ(Say(InterruptPhase::kRevert), "every node is reverting: this ends when they have\n");
}

TEST_F(Interrupt, ALaterApplyIsNotStoppedByIt) {
  Say(InterruptPhase::kTrial);
  EnterInterruptPhase(InterruptPhase::kNone);
  Enter(InterruptPhase::kTrial);
  EXPECT_FALSE(IsApplyStopped());
  EXPECT_FALSE(IsInterrupted());
}

// The second one ends the program by the signal itself, as its caller expects it.
using InterruptDeathTest = Interrupt;

void InterruptTwice(InterruptPhase phase) {
  SetInterruptTimes({.revert_after_s = 90, .moment_s = 30});
  EnterInterruptPhase(phase);
  std::raise(SIGINT);
  std::raise(SIGTERM);
}

TEST_F(InterruptDeathTest, BeforeAnythingWasAppliedTheFirstOneEndsItAndSaysSo) {
  const auto interrupt = [] {
    EnterInterruptPhase(InterruptPhase::kBefore);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(interrupt(), testing::KilledBySignal(SIGINT), "^interrupted: nothing was applied\n$");
}

TEST_F(InterruptDeathTest, TheSecondOneSaysThatTheNodesRevertAndWhen) {
  for (const InterruptPhase phase : {InterruptPhase::kTrial, InterruptPhase::kRevert}) {
    EXPECT_EXIT(InterruptTwice(phase), testing::KilledBySignal(SIGTERM),
                "\nended before the nodes have reverted: each reverts on its own, when nothing was "
                "heard for 90 s \\(at [0-2][0-9]:[0-5][0-9]:[0-5][0-9] UTC; later where a step "
                "takes longer\\)\n"
                "  hint: `status` names what is unfinished, and the next apply ends it first\n$");
  }
}

TEST_F(InterruptDeathTest, TheSecondOneWhileAnEarlierApplyIsEndedLeavesThatToTheNodes) {
  EXPECT_EXIT(InterruptTwice(InterruptPhase::kEnd), testing::KilledBySignal(SIGTERM),
              "\nstopped before the earlier apply was ended: each node goes on ending it on "
              "its own\n"
              "  hint: `status` names what is unfinished, and the next apply ends it first\n$");
}

TEST_F(InterruptDeathTest, TheSecondOneDuringTheCommitSaysHowTheNodesDecide) {
  EXPECT_EXIT(InterruptTwice(InterruptPhase::kCommit), testing::KilledBySignal(SIGTERM),
              "\nended during the commit: a node that has committed stays so; any other decides on "
              "its own, when nothing was heard for 90 s \\(at [0-2][0-9]:[0-5][0-9]:[0-5][0-9] "
              "UTC\\) and 30 s more: it commits where its peers answer, else it reverts\n"
              "  hint: `status` names what is unfinished, and the next apply ends it first\n$");
}

TEST_F(InterruptDeathTest, AVerificationThatIsInterruptedLeavesTheApplyCommitted) {
  EXPECT_EXIT(InterruptTwice(InterruptPhase::kVerify), testing::ExitedWithCode(7), kStays);
  EXPECT_EXIT(InterruptTwice(InterruptPhase::kCheck), testing::ExitedWithCode(7),
              "nothing had to be applied; only the verification was interrupted\n"
              "  hint: `verify` runs it\n");
  EXPECT_EQ(DescribeInterruptedVerification(true), kStays);
}

TEST_F(InterruptDeathTest, OneThatCameDuringTheCommitDoesNotChangeThat) {
  const auto interrupt_both = [] {
    Enter(InterruptPhase::kCommit);
    std::raise(SIGINT);
    EnterInterruptPhase(InterruptPhase::kVerify);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(interrupt_both(), testing::ExitedWithCode(7), kStays);
}

}  // namespace
}  // namespace reconciler::cli
