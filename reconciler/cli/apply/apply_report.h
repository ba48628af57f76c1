#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/apply/converge.h"
#include "reconciler/apply/ledger_keeper.h"
#include "reconciler/progress/apply_end.h"
#include "reconciler/verify/report/report.h"

namespace reconciler::cli {

// On a terminal only the word "yes" goes on; without one, `yes` must have been given.
bool Confirm(const std::string& question, bool yes,
             const std::string& hint =
                 "give --yes, or save a plan with `plan --out` and apply "
                 "that with --yes");
bool ConfirmPlan(const Plan& plan, bool yes);

// The last lines of an apply that failed and left nodes out: which, and what it did not prove.
void PrintPartial(const std::vector<NodeName>& absent);

// Instead of a verification: what it measures is not configured. `blocked`: ports of the fabric.
void PrintNotVerified(const std::vector<const Change*>& blocked);

// Of an apply that converged, what it did not prove; of any other, why it did not and what is left.
// `generation`: that of this apply.
void PrintOutcome(const ConvergeReport& report, int generation);

// What was made and read back.
std::size_t CountDone(const ConvergeReport& report);
std::size_t CountChangedNodes(const ConvergeReport& report);

CheckCounts CountChecks(const Report& report);

// The command that returns to what was before an apply of `manifest`; empty: there is none.
std::string FormatUndo(const std::string& manifest, const WayBack& way);

// An apply that is done, but that nodes do not remember; `report`: empty when nothing was changed.
void PrintNotRecorded(const std::optional<ConvergeReport>& report, const Errors& errors);

// What an uninstall left on the nodes, and where nothing is left.
void PrintUninstall(const UninstallResult& result);
void PrintUnledgered(const std::vector<UnledgeredFile>& files);

}  // namespace reconciler::cli
