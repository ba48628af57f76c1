#include "reconciler/planning/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::HasSubstr;
using testing::Not;

Plan OneChange(Change change) {
  change.node = "spark-1";
  Plan plan{.cluster = "homelab", .summary = "1 node"};
  plan.nodes = {{.name = "spark-1", .address = "192.168.1.21"}};
  plan.stages = {{.plugins = {"p"}, .changes = {std::move(change)}}};
  return plan;
}

TEST(RenderText, CountsLinksThatFlapOncePerInterface) {
  Plan plan = OneChange({.kind = "link",
                         .name = "enp1s0f1np1",
                         .is_link = true,
                         .detail = "mtu 1500 → 9000",
                         .impact = Impact::kLinkFlap});
  plan.stages[0].changes.push_back(plan.stages[0].changes[0]);
  EXPECT_THAT(RenderText(plan),
              HasSubstr("2 changes on 1 node. 1 link flaps; no RDMA connection is open on it.\n"));
}

TEST(RenderText, LinksThatHoldFlapWhereOthersHaveAllOfTheirTriggers) {
  Plan plan = OneChange({.kind = "file", .name = "/x", .triggers = {{.id = "a"}, {.id = "b"}}});
  plan.stages[0].held = {{.kind = "link",
                          .name = "enp1s0f1np1",
                          .is_link = true,
                          .node = "spark-1",
                          .triggers = {{.id = "a"}, {.id = "b"}},
                          .impact = Impact::kLinkFlap}};
  EXPECT_THAT(RenderText(plan),
              HasSubstr("1 change on 1 node. 1 link flaps; no RDMA connection is open on it.\n"));
  plan.stages[0].held[0].triggers.push_back({.id = "c"});
  EXPECT_THAT(RenderText(plan), HasSubstr("1 change on 1 node.\n"));
}

// Our own file comes for the adopted one, so that only that is counted.
Plan AnAdoption() {
  Plan plan = OneChange({.change = ChangeKind::kAdopt,
                         .kind = "file",
                         .name = "/x",
                         .detail = "into y",
                         .actions = {RemoveFile{"/x"}}});
  plan.stages[0].changes.push_back({.change = ChangeKind::kAdopt,
                                    .kind = "file",
                                    .name = "/y",
                                    .node = "spark-1",
                                    .actions = {WriteFile{.path = "/y"}}});
  return plan;
}

TEST(RenderText, AnAdoptionIsNoChangeOfWhatTheNodesDo) {
  EXPECT_EQ(RenderText(AnAdoption()),
            "homelab · 1 node\n"
            "spark-1  192.168.1.21\n"
            "  > file  /x: into y\n"
            "  > file  /y\n"
            "no changes, 1 file taken over on 1 node.\n"
            "uninstall writes back what is taken over.\n"
            "Each node is armed to revert the plan before its first change.\n");
}

TEST(RenderText, AUnitIsTakenOverBesideFiles) {
  Plan plan = AnAdoption();
  plan.stages[0].changes.push_back(
      {.change = ChangeKind::kAdopt,
       .kind = "unit",
       .name = "x.service",
       .node = "spark-1",
       .detail = "stopped and disabled",
       .actions = {RunCommand{.argv = {"systemctl", "stop", "--", "x.service"}}}});
  EXPECT_EQ(RenderText(plan),
            "homelab · 1 node\n"
            "spark-1  192.168.1.21\n"
            "  > file  /x: into y\n"
            "  > file  /y\n"
            "  > unit  x.service: stopped and disabled\n"
            "no changes, 1 file taken over on 1 node, 1 unit taken over on 1 node.\n"
            "uninstall writes back the files that are taken over, and sets back the rest.\n"
            "Each node is armed to revert the plan before its first change.\n");
  plan.stages[0].changes.erase(plan.stages[0].changes.begin(), plan.stages[0].changes.begin() + 2);
  EXPECT_THAT(RenderText(plan), HasSubstr("no changes, 1 unit taken over on 1 node.\n"
                                          "uninstall sets back what is taken over.\n"));
}

TEST(RenderText, AnAdoptionStandsBesideChangesAndBlockedOnes) {
  Plan plan = AnAdoption();
  plan.stages[0].changes.push_back({.kind = "file", .name = "/z", .node = "spark-1"});
  EXPECT_EQ(FormatSummaryLine(plan), "1 change on 1 node, 1 file taken over on 1 node");
  Block(plan.stages[0].changes[2], "c", "why");
  EXPECT_EQ(FormatSummaryLine(plan), "1 file taken over on 1 node, 1 blocked");
}

TEST(RenderText, TextFromANodeCannotReachTheTerminalRaw) {
  const std::string text = RenderText(OneChange(
      {.kind = "file", .name = "/etc/\033[2J", .detail = "a\nb", .diff = "+\033]0;x\a\n"}));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(text, HasSubstr("/etc/\\x1b[2J: a\\x0ab"));
}

TEST(RenderText, ColoursOnlyWhenRequested) {
  const Plan plan = OneChange({.change = ChangeKind::kAdd, .kind = "file", .name = "/x"});
  EXPECT_THAT(RenderText(plan), Not(HasSubstr("\033[")));
  EXPECT_THAT(RenderText(plan, {.colour = true}), HasSubstr("\033[32m+ file  /x\033[0m\n"));
}

TEST(RenderText, BriefLeavesTheDiffsOut) {
  const Plan plan = OneChange({.kind = "file", .name = "/x", .diff = "@@ -1 +1 @@\n-a\n+b\n"});
  EXPECT_THAT(RenderText(plan), HasSubstr("        -a\n        +b\n"));
  EXPECT_THAT(RenderText(plan, {.diffs = false}), Not(HasSubstr("@@")));
}

TEST(RenderText, AnEmptyPlanSaysSo) {
  Plan plan{.cluster = "homelab", .summary = "1 node"};
  plan.nodes = {{.name = "spark-1", .address = "192.168.1.21"}};
  EXPECT_EQ(RenderText(plan), "homelab · 1 node\nspark-1  192.168.1.21  no changes\nno changes.\n");
}

TEST(RenderText, NothingIsKnownOfNodesThatWereNotReached) {
  Plan plan{.cluster = "homelab", .summary = "2 nodes"};
  plan.nodes = {{.name = "spark-1", .unreachable = "connection refused"},
                {.name = "spark-2", .unreachable = "connection refused"}};
  EXPECT_EQ(FormatSummaryLine(plan), "nothing is known: 2 of 2 nodes not reached");
  plan.nodes[0].unreachable.clear();
  EXPECT_EQ(FormatSummaryLine(plan), "no changes, 1 node not reached");
}

TEST(RenderText, NoLineIsWiderThanTheTerminal) {
  const Plan plan =
      OneChange({.kind = "link",
                 .name = "enp1s0f1np1",
                 .detail = "down → up, mtu 1500 → 9000, +192.168.177.1/24",
                 .diff = "+a line of a file that is a little longer than sixty columns",
                 .impact = Impact::kLinkFlap,
                 .where = {"pair.yaml", {17, 1}}});
  EXPECT_EQ(RenderText(plan, {.columns = 60}),
            "homelab · 1 node\n"
            "spark-1  192.168.1.21\n"
            "  ~ link  enp1s0f1np1: down → up, mtu 1500 → 9000,\n"
            "            +192.168.177.1/24\n"
            "            pair.yaml:17  flaps the link\n"
            "        +a line of a file that is a little longer than sixty\n"
            "            columns\n"
            "1 change on 1 node.\n"
            "Each node is armed to revert the plan before its first\n"
            "  change.\n");
  EXPECT_THAT(RenderText(plan, {.columns = 110}),
              HasSubstr("\n  ~ link  enp1s0f1np1: down → up, mtu 1500 → 9000, +192.168.177.1/24  "
                        "pair.yaml:17  flaps the link\n"));
}

TEST(RenderText, ProblemsStandBelowThePlanAndThoseOfAChangeAtTheChange) {
  Plan plan = OneChange({.kind = "file", .name = "/x"});
  Block(plan.stages[0].changes[0], "plan-state-unknown", "unknown: gone");
  plan.diagnostics = {{.severity = Severity::kBlocks,
                       .code = "plan-state-unknown",
                       .message = "unknown: gone",
                       .change = "file//x",
                       .nodes = {"spark-1"}},
                      {.severity = Severity::kBlocks,
                       .code = "p-out",
                       .message = "wanted a, found b",
                       .next_step = "write b",
                       .where = {"cluster.yaml", {7, 1}},
                       .nodes = {"spark-1"}},
                      {.severity = Severity::kWarns, .code = "p-w", .message = "m"}};
  EXPECT_EQ(RenderText(plan),
            "homelab · 1 node\n"
            "spark-1  192.168.1.21\n"
            "  ! file  /x: unknown: gone    blocked [plan-state-unknown]\n"
            "1 blocked, 1 warning, apply is refused.\n"
            "error: spark-1: wanted a, found b [p-out]  cluster.yaml:7\n"
            "  next step: write b\n"
            "warning: m [p-w]\n");
}

TEST(RenderMarkdown, NoTextCanEndItsOwnBlockOrCell) {
  const std::string text = RenderMarkdown(
      OneChange({.kind = "file", .name = "/x|y", .diff = "@@ -1,2 +1 @@\n ````\n-a\n"}));
  EXPECT_THAT(text, HasSubstr("/x\\|y"));
  EXPECT_THAT(text, HasSubstr("\n`````diff\n"));
}

}  // namespace
}  // namespace reconciler
