#include "reconciler/cli/apply/apply_refusals.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "reconciler/cli/terminal.h"
#include "reconciler/planning/layout.h"

namespace reconciler::cli {
namespace {

void PrintBecause(const char* because, const std::vector<std::string>& lines, const char* hint) {
  std::cerr << "nothing was changed, because " << because << ":\n";
  for (const std::string& line : lines) std::cerr << "  " << line << '\n';
  std::cerr << "  hint: " << hint << '\n';
}

}  // namespace

void PrintRefusal(const ApplyRefusal& refusal, bool has_node) {
  std::cerr << FormatErrors(refusal.errors);
  for (const Diagnostic& one : refusal.diagnostics) std::cerr << FormatDiagnostic(one);
  switch (refusal.kind) {
    case RefusalKind::kNoPlan:
    case RefusalKind::kStale:
    case RefusalKind::kLocked:
    case RefusalKind::kNoSession:
    case RefusalKind::kNodeLost:
      return;
    case RefusalKind::kNewDrift:
      std::cerr << "what differs now was not in the plan: apply again\n";
      return;
    case RefusalKind::kUnreached:
      return PrintBecause("these nodes of the manifest were not reached", refusal.lines,
                          has_node ? "make them ready, name the others with --node, or give "
                                     "--allow-unreached"
                                   : "make them ready, or give --allow-unreached");
    case RefusalKind::kNotAllowed:
      std::cerr << "nothing was changed\n";
      return;
    case RefusalKind::kHalfCables:
      return PrintBecause("it would change one end of a cable only", refusal.lines,
                          has_node ? "make that node ready, name it with --node too, remove it "
                                     "from the manifest, or use --allow-half-cables"
                                   : "make that node ready, or use --allow-half-cables");
    case RefusalKind::kInterrupts:
      return PrintBecause("it would end work that runs now", refusal.lines,
                          "wait for it, or give --interrupt");
    case RefusalKind::kWrongCables:
      return PrintBecause(
          "the cabling is not the manifest's", refusal.lines,
          "move the cables (left and right are seen from the back), correct the manifest, or give "
          "--allow-wrong-cables");
    case RefusalKind::kStillUnfinished:
      for (const std::string& node : refusal.lines) std::cout << node << ": unknown\n";
      return;
  }
}

ExitCode FindExitCode(const ApplyRefusal& refusal, bool reached_all) {
  switch (refusal.kind) {
    case RefusalKind::kNoPlan:
    case RefusalKind::kNotAllowed:
      return kUsageOrManifest;
    case RefusalKind::kStale:
    case RefusalKind::kNewDrift:
      return kStalePlan;
    case RefusalKind::kHalfCables:
      return reached_all ? kPending : kNodeUnreadable;
    case RefusalKind::kInterrupts:
    case RefusalKind::kWrongCables:
      return kPending;
    case RefusalKind::kLocked:
      return kLocked;
    case RefusalKind::kNoSession:
    case RefusalKind::kUnreached:
    case RefusalKind::kNodeLost:
      return kNodeUnreadable;
    case RefusalKind::kStillUnfinished:
      return kMixed;
  }
  return kMixed;
}

void PrintCabling(const CablingReport& report, bool allow_wrong) {
  for (const CableVerdict& verdict : report.cables) {
    if (verdict.state != CableState::kUnknown) continue;
    const std::string line =
        fmt::format("cabling not known: {}: {}\n", DescribeCable(verdict.cable), verdict.detail);
    std::cerr << WrapLines(line, FindTerminalTraits(STDERR_FILENO, /*no_colour=*/true).columns);
  }
  if (report.wrong.empty() || !allow_wrong) return;
  std::cerr << "the cabling is not the manifest's:\n";
  for (const std::string& line : report.wrong) std::cerr << "  " << line << '\n';
}

}  // namespace reconciler::cli
