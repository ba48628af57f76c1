#pragma once

#include "reconciler/model/value.h"
#include "reconciler/yaml/manifest_errors.h"

namespace reconciler {

// What no schema can say: errors between the nodes and the fabric. Sections of plugins are
// checked by their plugins, after the manifest has loaded. Works on the document as it was written
// (before defaults), and skips every part that the schema refuses.
void CrossCheck(const Value& document, ManifestErrors& errors);

// Its parts, one file each.
void CheckNodes(const Value& document, ManifestErrors& errors);     // names, ids, addresses
void CheckCabling(const Value& document, ManifestErrors& errors);   // topology, cages, links
void CheckHardware(const Value& document, ManifestErrors& errors);  // profiles, and cages they have
void CheckSwitches(const Value& document,
                   ManifestErrors& errors);  // their ports, uplinks and frames
void CheckSubnets(const Value& document,
                  ManifestErrors& errors);  // subnets, ids and addresses in them
void CheckMoved(const Value& document, ManifestErrors& errors);   // names before and now
void CheckVerify(const Value& document, ManifestErrors& errors);  // size, collectives, checks

}  // namespace reconciler
