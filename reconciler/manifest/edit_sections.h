#pragma once

#include <string>

#include "reconciler/base/result.h"
#include "reconciler/manifest/line_editor.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// Takes a node out of the `nodes` of every list of things (`adopt`, `units`). An entry that named
// this node alone goes with it, and a list with its last entry. Error: the text has a form that
// cannot be edited.
Result<void> RemoveFromSections(LineEditor& editor, const ClusterSpec& spec, const NodeName& name);

// Takes out what `moved` says of a node's old name: without the node it would be an error. What
// holds nothing then goes with it. The old name; empty: `moved` does not name the node. Error: as
// above.
Result<std::string> RemoveFromMoved(LineEditor& editor, const ClusterSpec& spec,
                                    const NodeName& name);

}  // namespace reconciler
