#pragma once

#include <string>

#include "reconciler/model/facts.h"

namespace reconciler {

// What `spark-verify facts` printed, into the node's facts: HcaFact::verbs, RdmaFacts::verbs and,
// of GpuFacts, what CUDA and the HCA say.
void StoreVerbsFacts(const std::string& line, NodeFacts& facts);

}  // namespace reconciler
