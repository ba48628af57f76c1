#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/verify/finding/cause.h"
#include "reconciler/verify/rdma/judge/judge.h"

namespace reconciler {

// Of the rail that the error is about, or of this one where it is about none.
Cause ExplainRunError(const Transfer& transfer, const RailWrite& rail);
// An HCA of hardware whose link reports no speed.
Cause ExplainUnknownSpeed(const Transfer& transfer, const RailWrite& rail);
Cause ExplainImplausible(const Transfer& transfer, const RailWrite& rail);
Cause ExplainSmallMtu(const Transfer& transfer, const RailWrite& rail);
std::optional<Cause> ExplainNarrowPcie(const Transfer& transfer, const RailWrite& rail);
Cause ExplainOneRail(const Transfer& transfer, const RailWrite& rail);
// Counters that grow only where packets were lost, as "spark-1 rocep1s0f1: out_of_sequence +82".
std::vector<std::string> ListLossEvidence(const Transfer& transfer, const RailWrite& rail);
// So slow on a fast link that packets lost on the way are no cause of their own.
bool IsLikelyDetour(const Transfer& transfer, const RailWrite& rail);
Cause ExplainLoss(const Transfer& transfer, const RailWrite& rail);
// Counters that grow where a switch marks packets (ECN), in the same form.
std::vector<std::string> ListMarkEvidence(const Transfer& transfer, const RailWrite& rail);
Cause ExplainCongestion(const Transfer& transfer, const RailWrite& rail);
// By the speed alone. `back`: the other direction of the same rail with as many rails in use, 0
// where not measured; `enough`: what would have passed (both Gb/s).
Cause ExplainSlow(const Transfer& transfer, const RailWrite& rail, double back, double enough);

}  // namespace reconciler
