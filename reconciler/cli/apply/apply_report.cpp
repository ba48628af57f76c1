#include "reconciler/cli/apply/apply_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/files.h"
#include "reconciler/cli/terminal.h"
#include "reconciler/planning/layout.h"
#include "reconciler/planning/text/render.h"

namespace reconciler::cli {
namespace {

// Sentences, in lines that fit on the terminal.
void Say(const std::string& text) {
  std::cout << WrapLines(text, FindTerminalTraits(STDOUT_FILENO, /*no_colour=*/true).columns);
}

void PrintEnds(const ConvergeReport& report) {
  for (const auto& [node, end] : report.ends) Say(fmt::format("{}: {}\n", node, ToString(end)));
}

// What becomes of the nodes that are not as before. One that has committed reverts nothing.
void PrintNextSteps(const ConvergeReport& report, int generation) {
  std::vector<NodeName> committed;
  std::vector<NodeName> others;
  for (const auto& [node, end] : report.ends) {
    if (end == NodeEnd::kAsBefore) continue;
    const bool has_committed = end == NodeEnd::kNew && report.commit_failed;
    (has_committed ? committed : others).push_back(node);
  }
  if (!committed.empty()) {
    std::cerr << fmt::format(
        "committed on {}, where nothing is reverted: apply again for the others, or use "
        "`rollback --to {}`\n",
        Join(committed, ", "), generation - 1);
  }
  if (others.empty()) return;
  std::cerr << fmt::format(
      "the state before the apply is kept in {} on {}; `sh guard revert` there restores it{}\n",
      GetJournalDirectory(report.apply_id), Join(others, ", "),
      report.commit_failed ? ", unless the node has committed" : "");
}

void PrintNotes(const ConvergeReport& report) {
  for (const auto& [node, notes] : report.notes) {
    for (const std::string& note : notes) std::cerr << fmt::format("note: {}: {}\n", node, note);
  }
}

void PrintFailure(const ConvergeReport& report, int generation) {
  for (const auto& [name, node] : report.applied.nodes) std::cerr << FormatErrors(node.errors);
  std::cerr << FormatErrors(report.errors);
  for (const std::string& id : report.kept) std::cerr << "kept: " << MakePrintable(id) << '\n';
  PrintNotes(report);
  if (report.reverted) {
    Say("not applied: every node reverted the plan, and reads as before\n");
    return;
  }
  Say("not applied, and not every node is as before: see the errors above\n");
  PrintEnds(report);
  PrintNextSteps(report, generation);
}

std::size_t CountDoneOn(const NodeApply& node) {
  return static_cast<std::size_t>(
      std::count_if(node.changes.begin(), node.changes.end(),
                    [](const auto& entry) { return entry.second == ChangeOutcome::kDone; }));
}

// What an apply committed without.
void PrintNotProved(const ConvergeReport& report) {
  if (report.silent_beacons.empty()) return;
  Say("not proved: what happens when the controller is lost during the commit\n");
  for (const Error& error : report.silent_beacons) {
    Say(fmt::format("  {}: {}\n", Join(error.context, ": "), error.message));
  }
}

}  // namespace

bool Confirm(const std::string& question, bool yes, const std::string& hint) {
  if (yes) return true;
  if (isatty(STDIN_FILENO) != 1) {
    std::cerr << "nothing was changed: there is no terminal to confirm on\n  hint: " << hint
              << '\n';
    return false;
  }
  std::cerr << question << " Type 'yes' to continue: ";
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "yes") return true;
  std::cerr << "nothing was changed\n";
  return false;
}

bool ConfirmPlan(const Plan& plan, bool yes) {
  return Confirm(fmt::format("Apply {}?", FormatSummaryLine(plan)), yes);
}

void PrintPartial(const std::vector<NodeName>& absent) {
  Say(fmt::format(
      "PARTIAL: {} not reached, and not changed: {}\n"
      "  not proved: the state there, the connections to there, and the manifest's verification, "
      "which needs every node\n",
      FormatPlural(absent.size(), "node was", "nodes were"), Join(absent, ", ")));
}

void PrintNotVerified(const std::vector<const Change*>& blocked) {
  Say("not verified, because ports of the fabric are blocked:\n");
  for (const Change* port : blocked) {
    Say(fmt::format("  {}: {}: {}\n", MakePrintable(port->node), MakePrintable(port->name),
                    MakePrintable(port->detail)));
  }
  Say("  next step: correct what blocks them, and apply again\n");
}

void PrintOutcome(const ConvergeReport& report, int generation) {
  if (report.committed && !report.converged) {
    std::cerr << FormatErrors(report.errors);
    PrintNotes(report);
    Say(report.commit_failed
            ? "committed on every node, but not every node confirmed that: see the errors above\n"
            : "committed on every node, but a check afterwards failed: see the errors above\n");
    PrintEnds(report);
    PrintNotProved(report);
    return;
  }
  if (!report.converged) {
    PrintFailure(report, generation);
    return;
  }
  PrintNotes(report);
  PrintNotProved(report);
}

std::size_t CountDone(const ConvergeReport& report) {
  std::size_t done = 0;
  for (const auto& [name, node] : report.applied.nodes) done += CountDoneOn(node);
  return done;
}

std::size_t CountChangedNodes(const ConvergeReport& report) {
  const auto& nodes = report.applied.nodes;
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const auto& entry) { return CountDoneOn(entry.second) > 0; }));
}

CheckCounts CountChecks(const Report& report) {
  return {.passed = report.Count(Outcome::kPass) + report.Count(Outcome::kWarn),
          .failed = report.Count(Outcome::kFail),
          .not_measured = report.Count(Outcome::kCouldNotMeasure)};
}

std::string FormatUndo(const std::string& manifest, const WayBack& way) {
  std::string nodes;
  switch (way.kind) {
    case WayBackKind::kNone:
      return {};
    case WayBackKind::kRollback:
      return "spark-reconcile rollback " + FormatArgument(manifest);
    case WayBackKind::kUninstall:
      if (way.nodes.empty()) return "spark-reconcile rollback --to 0 " + FormatArgument(manifest);
      for (const NodeName& node : way.nodes) nodes += "--node " + node + " ";
      return "spark-reconcile uninstall " + nodes + FormatArgument(manifest);
  }
  return {};
}

void PrintNotRecorded(const std::optional<ConvergeReport>& report, const Errors& errors) {
  std::cerr << FormatErrors(errors);
  Say(report ? "applied, but what was done could not be recorded: see the errors above\n"
             : "nothing was changed, and that could not be recorded: see the errors above\n");
  if (!report) return;
  for (const auto& [name, node] : report->applied.nodes) {
    Say(fmt::format("{}: {}\n", name, ToString(NodeEnd::kNew)));
  }
}

void PrintUninstall(const UninstallResult& result) {
  for (const Change& change : result.left) {
    Say(fmt::format("left on {}: {} {}: {}\n", change.node, change.kind, MakePrintable(change.name),
                    MakePrintable(change.detail)));
  }
  std::cerr << FormatErrors(result.errors);
  for (const EmptiedNode& node : result.emptied) {
    std::vector<std::string> kept;
    for (const std::string& name : node.kept) kept.push_back(MakePrintable(name));
    Say(fmt::format("{}: nothing of spark-reconcile is left{}, {} is gone\n", node.node,
                    kept.empty() ? "" : " but " + Join(kept, " and "), kStateFolder));
  }
}

void PrintUnledgered(const std::vector<UnledgeredFile>& files) {
  for (const UnledgeredFile& file : files) {
    Say(fmt::format(
        "left on {}: file {}: it has our mark, but the node has no ledger with the original: "
        "remove it by hand\n",
        file.node, MakePrintable(file.path)));
  }
}

}  // namespace reconciler::cli
