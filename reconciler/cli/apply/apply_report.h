#pragma once

#include "reconciler/apply/converge.h"

namespace reconciler::cli {

// On a terminal only the word "yes" goes on; without one, `yes` must have been given.
bool AskConfirmation(const Plan& plan, bool yes);

// What an apply did, or why it did not and what is left.
void PrintOutcome(const ConvergeReport& report);

}  // namespace reconciler::cli
