#pragma once

#include "reconciler/cabling/judge.h"
#include "reconciler/cabling/observed_cabling.h"

namespace reconciler {

// One declared cable by what its two ends see.
CableVerdict JudgeCable(const ObservedCabling& observed, const DeclaredCable& cable);

}  // namespace reconciler
