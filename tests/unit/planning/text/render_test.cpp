#include "reconciler/planning/text/render.h"

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
            "> taken over\n"
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
            "> taken over\n"
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

// Three nodes without a change, of which two have a warning with this code.
Plan WarnOf(const std::string& code) {
  Plan plan{.cluster = "homelab", .summary = "3 nodes"};
  for (const char* name : {"spark-1", "spark-2", "spark-3"}) plan.nodes.push_back({.name = name});
  plan.diagnostics = {{.severity = Severity::kWarns,
                       .code = code,
                       .message = "m",
                       .nodes = {"spark-1", "spark-3"}}};
  return plan;
}

TEST(RenderText, WhatWinsOverTheManifestIsNeverNoChanges) {
  Plan plan = WarnOf("netplan-boot-service");
  EXPECT_EQ(RenderText(plan),
            "homelab · 3 nodes\n"
            "spark-1, spark-3 (2 nodes)  nothing to change, but see the warnings\n"
            "spark-2    no changes\n"
            "nothing to change, but 2 things on 2 nodes win over the manifest at the next boot or "
            "re-plug, 1 warning.\n"
            "warning: spark-1, spark-3: m [netplan-boot-service]\n");
  EXPECT_THAT(RenderMarkdown(plan), HasSubstr("\n\nNothing to change, but see the warnings.\n"));
  plan.diagnostics[0].nodes.pop_back();
  EXPECT_THAT(FormatSummaryLine(plan),
              HasSubstr("but 1 thing on 1 node wins over the manifest at the next boot"));
}

TEST(RenderText, WhatWinsNowIsNotCalledLater) {
  Plan plan = WarnOf("memlock-foreign-line");
  EXPECT_EQ(FormatSummaryLine(plan),
            "nothing to change, but 2 things on 2 nodes win over the manifest now, 1 warning");
  plan.diagnostics.push_back(plan.diagnostics[0]);
  plan.diagnostics[1].code = "sysctl-overridden-at-boot";
  plan.diagnostics[1].nodes = {"spark-2"};
  EXPECT_EQ(FormatSummaryLine(plan),
            "nothing to change, but 3 things on 3 nodes win over the manifest now or at the next "
            "boot or re-plug, 2 warnings");
}

TEST(RenderText, OtherWarningsAndNotesLeaveNoChanges) {
  Plan plan = WarnOf("nccl-versions-differ");
  EXPECT_EQ(FormatSummaryLine(plan), "no changes, 1 warning");
  plan.diagnostics[0] = {.code = "netplan-boot-service", .message = "m", .nodes = {"spark-1"}};
  EXPECT_EQ(FormatSummaryLine(plan), "no changes");
}

TEST(RenderText, WithChangesTheSummaryCountsThemAlone) {
  Plan plan = WarnOf("netplan-boot-service");
  plan.stages = {{.changes = {{.kind = "file", .name = "/x", .node = "spark-2"}}}};
  EXPECT_EQ(FormatSummaryLine(plan), "1 change on 1 node, 1 warning");
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
            "~ changed\n"
            "1 change on 1 node.\n"
            "Each node is armed to revert the plan before its first\n"
            "  change.\n");
  EXPECT_THAT(RenderText(plan, {.columns = 30}),
              HasSubstr("\n            pair.yaml:17\n            flaps the link\n"));
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
            "! blocked\n"
            "1 blocked, 1 warning, apply is refused.\n"
            "error: spark-1: wanted a, found b [p-out]  cluster.yaml:7\n"
            "  next step: write b\n"
            "warning: m [p-w]\n");
}

// Two nodes with the same change, and `own` on the second one; a third one without changes.
Plan ThreeNodes(const Change& same, Change own) {
  Plan plan = OneChange(same);
  plan.summary = "3 nodes";
  plan.nodes.push_back({.name = "spark-2", .address = "192.168.1.22"});
  plan.nodes.push_back({.name = "spark-3", .address = "192.168.1.23"});
  plan.stages[0].changes.push_back(same);
  plan.stages[0].changes.back().node = "spark-2";
  own.node = "spark-2";
  plan.stages[0].changes.push_back(std::move(own));
  return plan;
}

const Change kFile = {.change = ChangeKind::kAdd,
                      .kind = "file",
                      .name = "/x",
                      .detail = "(0644, 1 line)",
                      .diff = "@@ -0,0 +1 @@\n+x\n"};
const Change kSetting = {.kind = "sysctl", .name = "a.b", .detail = "1 → 2"};

TEST(RenderText, WhatReadsTheSameOnSeveralNodesStandsThereOnce) {
  EXPECT_EQ(RenderText(ThreeNodes(kFile, kSetting)),
            "homelab · 3 nodes\n"
            "spark-1, spark-2 (2 nodes)\n"
            "  + file    /x (0644, 1 line)\n"
            "        @@ -0,0 +1 @@\n"
            "        +x\n"
            "spark-2  192.168.1.22\n"
            "  ~ sysctl  a.b: 1 → 2\n"
            "spark-3  192.168.1.23  no changes\n"
            "+ created  ~ changed\n"
            "3 changes on 2 nodes.\n"
            "Each node is armed to revert the plan before its first change.\n");
}

TEST(RenderText, ADifferenceInAnyWordKeepsChangesApart) {
  const auto is_apart = [](void (*change)(Change&)) {
    Plan plan = ThreeNodes(kFile, kSetting);
    change(plan.stages[0].changes[1]);
    const std::string text = RenderText(plan, {.diffs = false});
    return text.find("nodes)") == std::string::npos;
  };
  EXPECT_FALSE(is_apart([](Change&) {}));
  EXPECT_FALSE(is_apart([](Change& one) { one.fingerprint = "0123456789abcdef"; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.change = ChangeKind::kModify; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.kind = "dir"; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.name = "/y"; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.detail = "(0600, 1 line)"; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.diff = "@@ -0,0 +1 @@\n+y\n"; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.impact = Impact::kLinkFlap; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.deferred = true; }));
  EXPECT_TRUE(is_apart([](Change& one) { one.where = {"cluster.yaml", {7, 1}}; }));
}

TEST(RenderText, WhatMoreNodesHaveStandsFirstAndEachNodeKeepsItsOrder) {
  Plan plan = ThreeNodes(kSetting, kFile);
  for (const char* name : {"/a", "/b"}) {
    for (const char* node : {"spark-3", "spark-2", "spark-1"}) {
      plan.stages[0].changes.push_back({.kind = "file", .name = name, .node = node});
    }
  }
  EXPECT_EQ(RenderText(plan, {.diffs = false}),
            "homelab · 3 nodes\n"
            "spark-1, spark-2, spark-3 (3 nodes)\n"
            "  ~ file    /a\n"
            "  ~ file    /b\n"
            "spark-1, spark-2 (2 nodes)\n"
            "  ~ sysctl  a.b: 1 → 2\n"
            "spark-2  192.168.1.22\n"
            "  + file    /x (0644, 1 line)\n"
            "+ created  ~ changed\n"
            "9 changes on 3 nodes.\n"
            "Each node is armed to revert the plan before its first change.\n");
}

TEST(RenderText, BlockedChangesWithOneReasonStandOnceAndANodeThatNamesItselfIsTheSame) {
  Plan plan = ThreeNodes({.kind = "file", .name = "/x"}, kSetting);
  std::vector<Change>& changes = plan.stages[0].changes;
  Block(changes[0], "plan-need-blocked", "needs p0 of spark-1, which is blocked");
  Block(changes[1], "plan-need-blocked", "needs p0 of spark-2, which is blocked");
  Block(changes[2], "plan-need-blocked", "needs p0 of spark-2, which is blocked");
  EXPECT_EQ(RenderText(plan),
            "homelab · 3 nodes\n"
            "spark-1, spark-2 (2 nodes)\n"
            "  ! file    /x: needs p0 of the same node, which is blocked    blocked "
            "[plan-need-blocked]\n"
            "spark-2  192.168.1.22\n"
            "  ! sysctl  a.b: needs p0 of spark-2, which is blocked         blocked "
            "[plan-need-blocked]\n"
            "spark-3  192.168.1.23  no changes\n"
            "! blocked\n"
            "3 blocked.\n");
}

TEST(RenderText, NodesWithoutChangesAreOneLineAndThoseThatWereNotReachedAreNot) {
  Plan plan{.cluster = "homelab", .summary = "4 nodes"};
  plan.nodes = {{.name = "spark-1", .address = "192.168.1.21"},
                {.name = "spark-2", .address = "192.168.1.22", .unreachable = "refused"},
                {.name = "spark-3", .address = "192.168.1.23"},
                {.name = "spark-4", .address = "192.168.1.24", .unreachable = "refused"}};
  EXPECT_EQ(RenderText(plan),
            "homelab · 4 nodes\n"
            "spark-1, spark-3 (2 nodes)  no changes\n"
            "spark-2  192.168.1.22  not reached: refused\n"
            "spark-4  192.168.1.24  not reached: refused\n"
            "no changes, 2 nodes not reached.\n");
}

TEST(RenderText, TheLegendHasTheSignsOfThePlanAndFitsIntoSixtyColumns) {
  Plan plan = OneChange({.change = ChangeKind::kAdd, .kind = "file", .name = "/1"});
  for (const ChangeKind kind : {ChangeKind::kBlocked, ChangeKind::kModify, ChangeKind::kRemove,
                                ChangeKind::kAdopt, ChangeKind::kModify}) {
    plan.stages[0].changes.push_back(
        {.change = kind, .kind = "file", .name = "/2", .node = "spark-1"});
  }
  EXPECT_THAT(RenderText(plan, {.columns = 60}),
              HasSubstr("\n+ created  ~ changed  - removed  > taken over  ! blocked\n"));
  plan.stages[0].changes.resize(1);
  EXPECT_THAT(RenderText(plan, {.colour = true}), HasSubstr("\n\033[32m+\033[0m created\n"));
}

// One change for each cause, of spark-1.
Plan OneOfEachCause() {
  Plan plan = OneChange({.kind = "sysctl", .name = "a.first"});
  plan.stages[0].changes.clear();
  const auto add = [&](const char* name, ChangeCause cause, Impact impact = Impact::kNone) {
    plan.stages[0].changes.push_back({.kind = "sysctl",
                                      .name = name,
                                      .node = "spark-1",
                                      .detail = "1 → 2",
                                      .impact = impact,
                                      .cause = std::move(cause)});
  };
  add("a.first", {CauseKind::kFirstApply});
  add("a.new", {CauseKind::kNew});
  add("a.manifest", {CauseKind::kManifestChanged, 3, "1"});
  add("a.drifted", {CauseKind::kDrifted, 3, "2"}, Impact::kLinkFlap);
  add("a.values", {CauseKind::kDesiredChanged, 3, "1"});
  add("a.both", {CauseKind::kDriftedAndChanged, 3, "3"});
  add("a.gone", {CauseKind::kNotRequired, 3, "1"});
  add("a.unknown", {CauseKind::kUnknown, 3});
  return plan;
}

TEST(RenderText, EachLineSaysWhyAndTheLegendWhatThatMeans) {
  EXPECT_EQ(RenderText(OneOfEachCause()),
            "homelab · 1 node\n"
            "spark-1  192.168.1.21\n"
            "  ~ sysctl  a.first: 1 → 2\n"
            "  ~ sysctl  a.new: 1 → 2         new\n"
            "  ~ sysctl  a.manifest: 1 → 2    manifest changed\n"
            "  ~ sysctl  a.drifted: 1 → 2     drifted, flaps the link\n"
            "  ~ sysctl  a.values: 1 → 2      other values\n"
            "  ~ sysctl  a.both: 1 → 2        drifted from 3, manifest changed\n"
            "  ~ sysctl  a.gone: 1 → 2\n"
            "  ~ sysctl  a.unknown: 1 → 2\n"
            "~ changed\n"
            "new (1): was not applied before\n"
            "manifest changed (1): is as an earlier manifest had it\n"
            "other values (1): of other nodes, or of this version\n"
            "drifted (1): differs from what was applied\n"
            "drifted, manifest changed (1): both, since it was applied\n"
            "first apply to spark-1\n"
            "8 changes on 1 node.\n"
            "Each node is armed to revert the plan before its first change.\n");
}

TEST(RenderText, WhatDriftedCanStandFirst) {
  Plan plan = OneOfEachCause();
  plan.nodes.push_back({.name = "spark-2", .address = "192.168.1.22"});
  std::erase_if(plan.stages[0].changes, [](const Change& change) {
    return change.cause.kind != CauseKind::kNew && change.cause.kind != CauseKind::kDrifted;
  });
  EXPECT_THAT(RenderText(plan, {.drift_first = true}),
              HasSubstr("Drifted since it was applied:\n"
                        "spark-1  192.168.1.21\n"
                        "  ~ sysctl  a.drifted: 1 → 2    drifted, flaps the link\n"
                        "Everything else:\n"
                        "spark-1  192.168.1.21\n"
                        "  ~ sysctl  a.new: 1 → 2        new\n"
                        "spark-2  192.168.1.22  no changes\n"
                        "~ changed\n"));
  plan.nodes.pop_back();
  plan.stages[0].changes.erase(plan.stages[0].changes.begin());
  EXPECT_THAT(RenderText(plan, {.drift_first = true}), Not(HasSubstr("Everything else")));
  plan.stages[0].changes[0].cause.kind = CauseKind::kNew;
  EXPECT_EQ(RenderText(plan, {.drift_first = true}), RenderText(plan));
}

TEST(RenderText, TheSameChangeForAnotherReasonIsAnotherLine) {
  Plan plan = OneChange({.kind = "sysctl", .name = "a.b", .cause = {CauseKind::kNew}});
  plan.nodes.push_back({.name = "spark-2", .address = "192.168.1.22"});
  plan.stages[0].changes.push_back(plan.stages[0].changes[0]);
  plan.stages[0].changes[1].node = "spark-2";
  EXPECT_THAT(RenderText(plan), HasSubstr("spark-1, spark-2 (2 nodes)\n"));
  plan.stages[0].changes[1].cause.kind = CauseKind::kDrifted;
  EXPECT_THAT(RenderText(plan), Not(HasSubstr("spark-1, spark-2")));
}

TEST(RenderMarkdown, TheCausesAreAListBelowTheSigns) {
  EXPECT_THAT(RenderMarkdown(OneOfEachCause()),
              HasSubstr("\n~ changed\n\n- new (1): was not applied before\n- manifest changed"));
}

TEST(RenderText, TheNamesOfManyNodesAreWrapped) {
  Plan plan{.cluster = "homelab", .summary = "8 nodes"};
  plan.stages = {{.plugins = {"p"}}};
  for (int i = 1; i <= 8; ++i) {
    const std::string name = "spark-" + std::to_string(i);
    plan.nodes.push_back({.name = name, .address = "192.168.1.2"});
    plan.stages[0].changes.push_back({.kind = "file", .name = "/x", .node = name});
  }
  EXPECT_THAT(RenderText(plan, {.columns = 60}),
              HasSubstr("spark-1, spark-2, spark-3, spark-4, spark-5, spark-6,\n"
                        "  spark-7, spark-8 (8 nodes)\n"
                        "  ~ file  /x\n"));
}

TEST(RenderNewWarnings, OnlyWhatThePlanDidNotSayIsSaidAfterIt) {
  const Diagnostic known{.severity = Severity::kWarns,
                         .code = "a-known",
                         .message = "a known one",
                         .nodes = {"spark-1"}};
  Diagnostic other_node = known;
  other_node.nodes = {"spark-2"};
  const Diagnostic note{.severity = Severity::kInforms, .code = "a-note", .message = "a note"};
  EXPECT_EQ(RenderNewWarnings({.diagnostics = {known}}, {.diagnostics = {known, note}}), "");
  EXPECT_EQ(RenderNewWarnings({.diagnostics = {known}}, {.diagnostics = {known, other_node}}),
            "warning: spark-2: a known one [a-known]\n");
}

TEST(RenderMarkdown, WhatReadsTheSameOnSeveralNodesIsOneTable) {
  const std::string text = RenderMarkdown(ThreeNodes(kSetting, kFile));
  EXPECT_THAT(text,
              HasSubstr("\n#### spark-1, spark-2 (2 nodes)\n\n"
                        "| | kind | what | manifest | cause, impact |\n|---|---|---|---|---|\n"
                        "| `~` | sysctl | a.b: 1 → 2 |  |  |\n"
                        "\n#### spark-2  192.168.1.22\n"));
  EXPECT_TRUE(
      text.ends_with("\n#### spark-3  192.168.1.23\n\nNo changes.\n"
                     "\n+ created  ~ changed\n"))
      << text;
}

TEST(RenderMarkdown, NoTextCanEndItsOwnBlockOrCell) {
  const std::string text = RenderMarkdown(
      OneChange({.kind = "file", .name = "/x|y", .diff = "@@ -1,2 +1 @@\n ````\n-a\n"}));
  EXPECT_THAT(text, HasSubstr("/x\\|y"));
  EXPECT_THAT(text, HasSubstr("\n`````diff\n"));
}

}  // namespace
}  // namespace reconciler
