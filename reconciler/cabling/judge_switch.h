#pragma once

#include "reconciler/cabling/judge.h"
#include "reconciler/cabling/observed_cabling.h"

namespace reconciler {

// One verdict per cage that the manifest puts on the switch, and a line for each wrong one. The
// switch is where most of them find each other; a node that sees no one proves nothing.
std::vector<CableVerdict> JudgeSwitch(const ObservedCabling& observed, const DeclaredCable& cable,
                                      std::vector<std::string>& wrong);

}  // namespace reconciler
