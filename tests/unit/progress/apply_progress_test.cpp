#include "reconciler/progress/apply_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;

Change MakeChange(const NodeName& node, const std::string& kind, const std::string& name) {
  return {.kind = kind, .name = name, .node = node};
}

// Two stages; the key of spark-2 is known only after the first pass.
Plan MakePairPlan() {
  Plan plan{.cluster = "lab"};
  Stage first{.plugins = {"host", "netplan", "ssh"}};
  Stage second{.plugins = {"units"}};
  for (const NodeName node : {"spark-1", "spark-2"}) {
    first.changes.push_back(MakeChange(node, "file", "/etc/netplan/60.yaml"));
    first.changes.push_back(MakeChange(node, "link", "enp1s0f1np1"));
    first.changes.push_back(MakeChange(node, "file", "/etc/hosts"));
    second.changes.push_back(MakeChange(node, "unit", "note.service"));
  }
  first.changes.push_back(MakeChange("spark-2", "file", "authorized_keys"));
  first.changes.back().deferred = true;
  plan.stages = {first, second};
  return plan;
}

constexpr std::size_t kRows = 24;

class Progress : public testing::Test {
 protected:
  void StartStage(const NodeName& node, const std::string& plugins, double at) {
    progress_.Note({EventType::kStageStarted, node, plugins, ""}, at);
  }
  void FinishFirstStage(const NodeName& node) {
    for (const char* subject : {"file /etc/netplan/60.yaml", "link enp1s0f1np1", "file /etc/hosts"})
      progress_.Note({EventType::kChangeDone, node, subject, ""}, 3);
  }
  std::vector<std::string> Draw(double now, std::size_t columns = 110) {
    return progress_.Draw(now, columns, kRows);
  }

  ApplyProgress progress_{MakePairPlan()};
};

TEST_F(Progress, EachNodeIsALineBelowThePhaseAndTheClock) {
  EXPECT_THAT(Draw(0.4), ElementsAre("lab  0/9  checking under the lock  0 s", "  spark-1  0/4",
                                     "  spark-2  0/5"));
  progress_.BeginChanging();
  progress_.Note({EventType::kArmed, "", "", ""}, 1);
  StartStage("spark-1", "host, netplan, ssh", 1);
  EXPECT_THAT(Draw(3.9), ElementsAre("lab  0/9  changing  3 s", "  spark-1  0/4  file, link …  2 s",
                                     "  spark-2  0/5  waits"));
  FinishFirstStage("spark-1");
  EXPECT_THAT(Draw(4), ElementsAre("lab  3/9  changing  4 s", "  spark-1  3/4  waits",
                                   "  spark-2  0/5  waits"));
}

TEST_F(Progress, NoLineIsWiderThanTheTerminal) {
  progress_.Note({EventType::kChangeFailed, "spark-1", "file /etc/hosts", "No space left"}, 1);
  EXPECT_THAT(Draw(1, 30), ElementsAre("lab  0/9  checking under the …",
                                       "  spark-1  0/4  failed: file …", "  spark-2  0/5"));
  EXPECT_THAT(progress_.Draw(1, 60, 2), ElementsAre("lab  0/9  checking under the lock  1 s"));
}

TEST_F(Progress, WhatIsKnownAfterApplyIsCountedFromTheStart) {
  progress_.Note({EventType::kArmed, "", "", ""}, 1);
  for (const NodeName node : {"spark-1", "spark-2"}) {
    FinishFirstStage(node);
    progress_.Note({EventType::kChangeDone, node, "unit note.service", ""}, 4);
  }
  EXPECT_EQ(Draw(5).front(), "lab  8/9  reading back and proving  5 s");
  progress_.Note({EventType::kPass, "", "pass 2", ""}, 6);
  progress_.Note({EventType::kArmed, "", "", ""}, 6);
  StartStage("spark-2", "host, netplan, ssh", 6);
  EXPECT_THAT(Draw(7), ElementsAre("lab  8/9  changing, pass 2  7 s", "  spark-1  4/4",
                                   "  spark-2  4/5  file …  1 s"));
  progress_.Note({EventType::kChangeDone, "spark-2", "file authorized_keys", ""}, 8);
  progress_.Note({EventType::kReady, "", "", ""}, 9);
  EXPECT_EQ(Draw(9).front(), "lab  9/9  committing  9 s");
  progress_.Note({EventType::kConverged, "", "", ""}, 10);
  EXPECT_EQ(Draw(10).front(), "lab  9/9  committed and read back  10 s");
}

TEST_F(Progress, ARevertStandsInTheHeader) {
  progress_.Note({EventType::kReverting, "", "", ""}, 1);
  EXPECT_EQ(Draw(2).front(), "lab  0/9  REVERTING  2 s");
  progress_.Note({EventType::kReverted, "", "", ""}, 3);
  EXPECT_EQ(Draw(3).front(), "lab  0/9  REVERTED  3 s");
}

TEST_F(Progress, ALogHasALinePerChangeAndTriggersAreDetails) {
  const auto log = [&](const Event& event) {
    progress_.Note(event, 1);
    const auto line = progress_.FormatLogLine(event);
    if (!line) return std::string("nothing");
    const char* level = line->level == LogLevel::kError  ? "error: "
                        : line->level == LogLevel::kInfo ? "info: "
                                                         : "detail: ";
    return level + line->text;
  };
  EXPECT_EQ(log({EventType::kArmed, "", "", ""}),
            "info: every node would revert this on its own; changing");
  EXPECT_EQ(log({EventType::kStageStarted, "spark-1", "host, netplan, ssh", ""}),
            "detail: spark-1: next: file, link");
  EXPECT_EQ(log({EventType::kStageStarted, "spark-1", "host", ""}), "nothing");
  EXPECT_EQ(log({EventType::kChangeDone, "spark-1", "file /etc/hosts", ""}),
            "info: spark-1 1/4: file /etc/hosts");
  EXPECT_EQ(log({EventType::kTriggerDone, "spark-1", "run networkctl reload", ""}),
            "detail: spark-1: run networkctl reload");
  EXPECT_EQ(log({EventType::kChangeFailed, "spark-1", "file /x\033", "full"}),
            "error: spark-1: file /x\\x1b failed: full");
  EXPECT_EQ(log({EventType::kChangeUnknown, "spark-1", "file /x", "lost"}),
            "error: spark-1: file /x may or may not have been made: lost");
  EXPECT_EQ(log({EventType::kTriggerFailed, "spark-1", "run a", "exit code 1"}),
            "error: spark-1: run a failed: exit code 1");
  EXPECT_EQ(log({EventType::kPass, "", "pass 2", ""}),
            "info: pass 2: what became known by the changes so far");
  EXPECT_EQ(log({EventType::kReady, "", "", ""}), "info: every node is ready; committing");
  EXPECT_EQ(log({EventType::kConverged, "", "", "12 requests"}),
            "detail: committed and read back: 12 requests");
  EXPECT_EQ(log({EventType::kReverting, "", "", ""}), "error: every node reverts the plan");
  EXPECT_EQ(log({EventType::kReverted, "", "", ""}), "info: every node is as before");
  EXPECT_EQ(log({EventType::kNote, "spark-1", "", "a note"}), "nothing")
      << "it is printed with the result";
}

}  // namespace
}  // namespace reconciler
