#include "reconciler/cli/apply/apply_report.h"

#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "tests/support/plan_values.h"

namespace reconciler::cli {
namespace {

struct Printed {
  std::string out;
  std::string err;
};

// What `print` writes to both streams.
template <class Function>
Printed Capture(Function print) {
  std::ostringstream out;
  std::ostringstream err;
  std::streambuf* const stdout_buffer = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const stderr_buffer = std::cerr.rdbuf(err.rdbuf());
  print();
  std::cout.rdbuf(stdout_buffer);
  std::cerr.rdbuf(stderr_buffer);
  return {out.str(), err.str()};
}

Printed CaptureOutcome(const ConvergeReport& report) {
  return Capture([&] { PrintOutcome(report, /*generation=*/3); });
}

ConvergeReport MakeFailedReport() {
  ConvergeReport report{.apply_id = "0a1b2c3d-20261122120000ffff"};
  report.applied.nodes["spark-1"] = {
      .changes = {{"spark-1/file/a", ChangeOutcome::kDone}},
      .errors = {MakeNodeError(ErrorKind::kApply, "spark-1", "cannot write /etc/a")}};
  report.applied.nodes["spark-2"] = {};
  report.errors = {{.kind = ErrorKind::kApply, .message = "a check failed", .hint = "try again"}};
  return report;
}

TEST(PrintOutcome, AnApplyThatEveryNodeRevertedSaysSo) {
  ConvergeReport report = MakeFailedReport();
  report.reverted = true;
  const Printed printed = CaptureOutcome(report);
  EXPECT_EQ(printed.err,
            "spark-1: cannot write /etc/a\n"
            "a check failed\n"
            "  hint: try again\n");
  EXPECT_EQ(printed.out, "not applied: every node reverted the plan, and reads as before\n");
}

TEST(PrintNotVerified, NamesThePortsThatAreBlockedAndWhatToDoFirst) {
  const Change port{
      .name = "enp1s0f1np1", .node = "spark-2", .detail = "/etc/netplan/40.yaml configures it"};
  EXPECT_EQ(Capture([&] { PrintNotVerified({&port}); }).out,
            "not verified, because ports of the fabric are blocked:\n"
            "  spark-2: enp1s0f1np1: /etc/netplan/40.yaml configures it\n"
            "  next step: correct what blocks them, and apply again\n");
}

// A node that restarts after its commit.
TEST(PrintNotRecorded, SaysWhatEveryNodeIs) {
  ConvergeReport report;
  report.applied.nodes["spark-1"] = {};
  report.applied.nodes["spark-2"] = {};
  const Errors errors = {
      MakeNodeError(ErrorKind::kTransport, "spark-2", "the connection was lost")};
  Printed printed = Capture([&] { PrintNotRecorded(report, errors); });
  EXPECT_EQ(printed.err, "spark-2: the connection was lost\n");
  EXPECT_EQ(printed.out,
            "applied, but what was done could not be recorded: see the errors above\n"
            "spark-1: new\nspark-2: new\n");
  printed = Capture([&] { PrintNotRecorded(std::nullopt, errors); });
  EXPECT_EQ(printed.out,
            "nothing was changed, and that could not be recorded: see the errors above\n");
}

TEST(PrintOutcome, WhatARevertKeepsIsListed) {
  ConvergeReport report = MakeFailedReport();
  report.reverted = true;
  report.kept = {"spark-1/user/\x1b[31mx"};
  EXPECT_EQ(CaptureOutcome(report).err,
            "spark-1: cannot write /etc/a\n"
            "a check failed\n"
            "  hint: try again\n"
            "kept: spark-1/user/\\x1b[31mx\n");
}

TEST(PrintOutcome, WhatTheRevertOfANodeKeptElsewhereIsItsNote) {
  ConvergeReport report = MakeFailedReport();
  report.reverted = true;
  report.notes["spark-2"] = {
      "/etc/hosts was changed by another program: its text is kept in /j/0/foreign",
      "cannot restore /home/ada/.ssh/config"};
  const Printed printed = CaptureOutcome(report);
  EXPECT_EQ(printed.err,
            "spark-1: cannot write /etc/a\n"
            "a check failed\n"
            "  hint: try again\n"
            "note: spark-2: /etc/hosts was changed by another program: its text is kept in "
            "/j/0/foreign\n"
            "note: spark-2: cannot restore /home/ada/.ssh/config\n");
  EXPECT_EQ(printed.out, "not applied: every node reverted the plan, and reads as before\n");
}

TEST(PrintOutcome, WhatTheCommitOfANodeKeptElsewhereIsItsNote) {
  const std::string kept =
      "/etc/sysctl.d/a.conf was changed by another program: its text is kept in /j/0/foreign";
  ConvergeReport report{.converged = true, .committed = true};
  report.notes["spark-2"] = {kept};
  const Printed printed = CaptureOutcome(report);
  EXPECT_EQ(printed.err, "note: spark-2: " + kept + "\n");
  EXPECT_EQ(printed.out, "");
  report.converged = false;
  EXPECT_EQ(CaptureOutcome(report).err, "note: spark-2: " + kept + "\n");
}

TEST(PrintOutcome, AMixedEndNamesEachNodeAndTheWayBack) {
  ConvergeReport report = MakeFailedReport();
  report.ends = {{"spark-1", NodeEnd::kMixed},
                 {"spark-2", NodeEnd::kAsBefore},
                 {"spark-3", NodeEnd::kNew},
                 {"spark-4", NodeEnd::kUnknown}};
  const Printed printed = CaptureOutcome(report);
  EXPECT_EQ(printed.err,
            "spark-1: cannot write /etc/a\n"
            "a check failed\n"
            "  hint: try again\n"
            "the state before the apply is kept in "
            "/var/lib/spark-reconcile/journal/0a1b2c3d-20261122120000ffff on spark-1, spark-3, "
            "spark-4; `sh guard revert` there restores it\n");
  EXPECT_EQ(printed.out,
            "not applied, and not every node is as before: see the errors above\n"
            "spark-1: mixed\n"
            "spark-2: as before\n"
            "spark-3: new\n"
            "spark-4: unknown\n");
}

// There the guard refuses to revert.
TEST(PrintOutcome, AfterACommitThatFailedTheNodesThatHaveCommittedHaveAnotherWayOn) {
  ConvergeReport report{.apply_id = "0a1b2c3d-20261122120000ffff"};
  report.commit_failed = true;
  report.ends = {
      {"spark-1", NodeEnd::kNew}, {"spark-2", NodeEnd::kNew}, {"spark-3", NodeEnd::kAsBefore}};
  const std::string committed =
      "committed on spark-1, spark-2, where nothing is reverted: apply again for the others, or "
      "use `rollback --to 2`\n";
  EXPECT_EQ(CaptureOutcome(report).err, committed);
  report.ends["spark-3"] = NodeEnd::kUnknown;
  EXPECT_EQ(CaptureOutcome(report).err,
            committed +
                "the state before the apply is kept in "
                "/var/lib/spark-reconcile/journal/0a1b2c3d-20261122120000ffff on spark-3; "
                "`sh guard revert` there restores it, unless the node has committed\n");
}

TEST(PrintOutcome, ACommitThatEveryNodeCompletedOnItsOwnIsOne) {
  ConvergeReport report = MakeFailedReport();
  report.commit_failed = true;
  report.committed = true;
  report.ends = {{"spark-1", NodeEnd::kNew}, {"spark-2", NodeEnd::kNew}};
  const Printed printed = CaptureOutcome(report);
  EXPECT_EQ(printed.err, "a check failed\n  hint: try again\n");
  EXPECT_EQ(printed.out,
            "committed on every node, but not every node confirmed that: see the errors above\n"
            "spark-1: new\n"
            "spark-2: new\n");
}

TEST(PrintOutcome, ACheckThatFailsAfterTheCommitRevertsNothing) {
  ConvergeReport report = MakeFailedReport();
  report.committed = true;
  report.ends = {{"spark-1", NodeEnd::kNew}};
  const Printed printed = CaptureOutcome(report);
  EXPECT_EQ(printed.err, "a check failed\n  hint: try again\n");
  EXPECT_EQ(printed.out,
            "committed on every node, but a check afterwards failed: see the errors above\n"
            "spark-1: new\n");
}

TEST(CountDone, CountsWhatWasMadeAndWhere) {
  ConvergeReport report;
  report.applied.nodes["spark-1"].changes = {{"a", ChangeOutcome::kDone},
                                             {"b", ChangeOutcome::kNotRun}};
  report.applied.nodes["spark-2"].changes = {{"a", ChangeOutcome::kNotRun}};
  EXPECT_EQ(CountDone(report), 1U);
  EXPECT_EQ(CountChangedNodes(report), 1U);
}

TEST(CountChecks, LeavesOutWhatWasSkipped) {
  Report report;
  for (const Outcome outcome : {Outcome::kPass, Outcome::kWarn, Outcome::kFail,
                                Outcome::kCouldNotMeasure, Outcome::kSkipped}) {
    report.checks.push_back({.outcome = outcome});
  }
  const CheckCounts counts = CountChecks(report);
  EXPECT_EQ(counts.passed, 2U);
  EXPECT_EQ(counts.failed, 1U);
  EXPECT_EQ(counts.not_measured, 1U);
}

TEST(FormatUndo, ItIsTheCommandOfTheWayBack) {
  const WayBack rollback{.kind = WayBackKind::kRollback};
  EXPECT_EQ(FormatUndo("my cluster.yaml", rollback), "spark-reconcile rollback 'my cluster.yaml'");
  EXPECT_EQ(FormatUndo("my-cluster.yaml", rollback), "spark-reconcile rollback my-cluster.yaml");
  WayBack uninstall{.kind = WayBackKind::kUninstall};
  EXPECT_EQ(FormatUndo("a/cluster.yaml", uninstall),
            "spark-reconcile rollback --to 0 a/cluster.yaml");
  uninstall.nodes = {"spark-5", "spark-6"};
  EXPECT_EQ(FormatUndo("cluster.yaml", uninstall),
            "spark-reconcile uninstall --node spark-5 --node spark-6 cluster.yaml");
  EXPECT_EQ(FormatUndo("cluster.yaml", {}), "");
}

TEST(PrintOutcome, WhatWasCommittedWithoutAProofIsSaidAtTheEnd) {
  ConvergeReport report{.committed = true};
  report.converged = true;
  report.silent_beacons = {
      {.kind = ErrorKind::kApply,
       .message = "cannot reach the beacon of spark-2: enp1s0f1np1 has no carrier",
       .context = {"spark-1"},
       .hint = "not shown"}};
  const std::string not_proved =
      "not proved: what happens when the controller is lost during the commit\n"
      "  spark-1: cannot reach the beacon of spark-2: enp1s0f1np1 has no carrier\n";
  EXPECT_EQ(CaptureOutcome(report).out, not_proved);
  report.converged = false;
  EXPECT_EQ(CaptureOutcome(report).out,
            "committed on every node, but a check afterwards failed: see the errors above\n" +
                not_proved);
}

TEST(PrintPartial, NodesThatWereNotReachedAreNamedWithWhatIsNotProved) {
  constexpr const char* kNotProved =
      "  not proved: the state there, the connections to there, and the manifest's verification, "
      "which needs every node\n";
  EXPECT_EQ(
      Capture([] { PrintPartial({"spark-2"}); }).out,
      std::string("PARTIAL: 1 node was not reached, and not changed: spark-2\n") + kNotProved);
  EXPECT_EQ(Capture([] {
              PrintPartial({"spark-2", "spark-3"});
            }).out,
            std::string("PARTIAL: 2 nodes were not reached, and not changed: spark-2, spark-3\n") +
                kNotProved);
}

TEST(PrintUninstall, WhatIsLeftAndWhereNothingIsLeftIsPrinted) {
  Change left = Named("/etc/a");
  left.detail = "was edited";
  const Printed printed = Capture([&] {
    PrintUninstall({.left = {left},
                    .emptied = {{.node = "spark-2"}, {.node = "spark-3", .kept = {"user a"}}},
                    .errors = {MakeNodeError(ErrorKind::kApply, "spark-4", "is full")}});
  });
  EXPECT_EQ(printed.out,
            "left on spark-1: file /etc/a: was edited\n"
            "spark-2: nothing of spark-reconcile is left, /var/lib/spark-reconcile is gone\n"
            "spark-3: nothing of spark-reconcile is left but user a, /var/lib/spark-reconcile is "
            "gone\n");
  EXPECT_EQ(printed.err, "spark-4: is full\n");
}

TEST(PrintUninstall, AFileWithoutALedgerIsNamed) {
  EXPECT_EQ(Capture([] { PrintUnledgered({{.node = "spark-1", .path = "/etc/a"}}); }).out,
            "left on spark-1: file /etc/a: it has our mark, but the node has no ledger with the "
            "original: remove it by hand\n");
}

}  // namespace
}  // namespace reconciler::cli
