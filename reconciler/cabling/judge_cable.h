#pragma once

#include "reconciler/cabling/judge.h"
#include "reconciler/cabling/world.h"

namespace reconciler {

// One declared cable by what its two ends see.
CableVerdict JudgeCable(const CabledWorld& world, const DeclaredCable& cable);

}  // namespace reconciler
