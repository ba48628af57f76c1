#pragma once

#include <vector>

#include "plugins/storage/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::storage {

// Of `others`, volumes of other nodes, only whether this one writes to them.
RunProbe MakeStorageProbe(const std::vector<Volume>& volumes, const std::vector<Volume>& others);
// Fills StorageFacts.
void StoreStorage(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::storage
