#include "reconciler/cli/waiting.h"

#include <gtest/gtest.h>

#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

// Two nodes that are in sync, with locks that a test chooses.
class WaitingTest : public testing::Test {
 protected:
  WaitingTest() {
    plan_.nodes = {{.name = "spark-1"}, {.name = "spark-2"}};
    facts_.nodes = {{"spark-1", {}}, {"spark-2", {}}};
    locks_.nodes = {{"spark-1", {}}, {"spark-2", {}}};
  }

  Waiting Find() const { return FindWaiting(plan_, facts_, locks_); }

  Plan plan_;
  ClusterFacts facts_;
  Locks locks_;
};

TEST_F(WaitingTest, FreeNodesThatAreInSyncAreNotWaitedFor) {
  EXPECT_TRUE(Find().IsOver());
  EXPECT_EQ(FormatWaiting(Find()), "");
  EXPECT_EQ(FindWaitingCode(Find(), facts_), kFine);
}

TEST_F(WaitingTest, ALockThatIsHeldIsWaitedFor) {
  locks_.nodes["spark-2"].held = true;
  EXPECT_FALSE(Find().IsOver());
  EXPECT_EQ(FormatWaiting(Find()), "an apply is not over on spark-2");
  EXPECT_EQ(FindWaitingCode(Find(), facts_), kLocked);
}

TEST_F(WaitingTest, ALockThatCannotBeReadIsNotFree) {
  locks_.nodes.erase("spark-1");
  EXPECT_FALSE(Find().IsOver());
  EXPECT_EQ(FormatWaiting(Find()), "the lock of spark-1 cannot be read");
  EXPECT_EQ(FindWaitingCode(Find(), facts_), kNodeUnreadable);
  locks_.nodes["spark-2"].held = true;
  EXPECT_EQ(FormatWaiting(Find()),
            "an apply is not over on spark-2; the lock of spark-1 cannot be read");
  EXPECT_EQ(FindWaitingCode(Find(), facts_), kLocked);
}

TEST_F(WaitingTest, ANodeThatWasNotReachedHasNoLockToWaitFor) {
  plan_.nodes[0].unreachable = "no route";
  facts_.nodes.erase("spark-1");
  facts_.unreachable["spark-1"] = {};
  locks_.nodes.erase("spark-1");
  EXPECT_TRUE(Find().IsOver());
  EXPECT_EQ(FindWaitingCode(Find(), facts_), kNodeUnreadable);
}

}  // namespace
}  // namespace reconciler::cli
