#pragma once

#include <set>

#include "reconciler/cabling/judge.h"

namespace reconciler {

struct PlugVerdict {
  CableState state = CableState::kUnknown;
  SwitchPlug plug = {};  // where it is instead, when that is wrong
};

// Where LLDP saw a cage against where the manifest has it. What a switch calls itself and its ports
// is free text: a name that no switch of the manifest has says nothing, nor does a port that is
// not named in the way of the manifest's ports.
PlugVerdict ComparePlug(const DeclaredCable& cable, const SwitchPlug& declared,
                        const std::set<SwitchPlug>& seen);

std::string DescribePlug(const SwitchPlug& plug);  // "leaf-1 swp3"

}  // namespace reconciler
