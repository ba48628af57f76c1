#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/apply/converge.h"
#include "reconciler/apply/ledger_keeper.h"

namespace reconciler::cli {

// On a terminal only the word "yes" goes on; without one, `yes` must have been given.
bool Confirm(const std::string& question, bool yes,
             const std::string& hint =
                 "give --yes, or save a plan with `plan --out` and apply "
                 "that with --yes");
bool ConfirmPlan(const Plan& plan, bool yes);

// The last lines of an apply that left nodes out: which, and what it did not prove.
void PrintPartial(const std::vector<NodeName>& absent);

// Instead of a verification: what it measures is not configured. `blocked`: ports of the fabric.
void PrintNotVerified(const std::vector<const Change*>& blocked);

// What an apply did, or why it did not and what is left.
void PrintOutcome(const ConvergeReport& report);

// An apply that is done, but that nodes do not remember; `report`: empty when nothing was changed.
void PrintNotRecorded(const std::optional<ConvergeReport>& report, const Errors& errors);

// What an uninstall left on the nodes, and where nothing is left.
void PrintUninstall(const UninstallResult& result);
void PrintUnledgered(const std::vector<UnledgeredFile>& files);

}  // namespace reconciler::cli
