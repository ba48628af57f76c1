#pragma once

#include "reconciler/model/value.h"
#include "reconciler/yaml/problems.h"

namespace reconciler {

// What no schema can say: problems between the nodes and the fabric. Sections of plugins are
// checked by their plugins, after the manifest has loaded. Works on the document as it was written
// (before defaults), and skips every part that the schema refuses.
void CrossCheck(const Value& document, Problems& problems);

// Its parts, one file each.
void CheckNodes(const Value& document, Problems& problems);     // names, ids, addresses
void CheckCabling(const Value& document, Problems& problems);   // topology, cages, links
void CheckHardware(const Value& document, Problems& problems);  // profiles, and cages they have
void CheckSwitches(const Value& document, Problems& problems);  // their ports, uplinks and frames
void CheckSubnets(const Value& document, Problems& problems);  // subnets, ids and addresses in them
void CheckVerify(const Value& document, Problems& problems);   // size and collectives

}  // namespace reconciler
