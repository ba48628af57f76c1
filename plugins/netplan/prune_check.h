#pragma once

#include "reconciler/model/ledger.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// Leaves out of a prune what leads to the node by now, and what another owner has by now.
Ownership CheckPrune(const PluginInput& input, Change& change);

// The netplan file that is written again when the entry is pruned; nullptr: none is.
const WriteFile* FindFileComingBack(const PluginInput& input, const LedgerEntry& entry);

}  // namespace reconciler::plugins::netplan
