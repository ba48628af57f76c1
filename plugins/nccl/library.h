#pragma once

#include <string>

#include "plugins/nccl/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::nccl {

// "NCCL 2.28.9 (/usr/lib/…/libnccl.so.2)"
std::string FormatLabel(const NcclLibrary& library);

// Whether version a ("2.28.9") comes before b; false when one of them is not reported.
bool IsOlder(const std::string& a, const std::string& b);

RunProbe MakeLibraryProbe(const Section& section);
// Fills NcclFacts::library.
void StoreLibrary(const CommandReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::nccl
