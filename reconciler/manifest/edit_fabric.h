#pragma once

#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/manifest/line_editor.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// What a person must know of an edit of `fabric`.
struct FabricEdit {
  std::vector<std::string> remarks = {};
  std::vector<std::string> cables = {};  // where each one must be, and what becomes of it
};

struct JoiningNode {
  NodeName name = {};
  int id = 0;                // its host number on the fabric
  std::string address = {};  // of its management
};

// From a cable between two nodes to a ring of three. The cable's subnets stay its own, and each
// other cable gets two of its own: the next ones that the manifest does not use.
Result<FabricEdit> PutRing(LineEditor& editor, const ClusterSpec& spec, const JoiningNode& node);

// From a pair or a ring of three to a switch, with the first two subnets.
Result<FabricEdit> PutSwitch(LineEditor& editor, const ClusterSpec& spec, const JoiningNode& node);

// From a ring of three, without `name`, to a pair on the cable that is left.
Result<FabricEdit> PutPair(LineEditor& editor, const ClusterSpec& spec, const NodeName& name);

}  // namespace reconciler
