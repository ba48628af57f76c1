#pragma once

#include <vector>

#include "plugins/storage/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::storage {

RunProbe MakeStorageProbe(const std::vector<Volume>& volumes);
// Fills StorageFacts.
void StoreStorage(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::storage
