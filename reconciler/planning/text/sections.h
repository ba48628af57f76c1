#pragma once

#include <string>
#include <vector>

#include "reconciler/model/plan.h"

namespace reconciler {

// Nodes under one heading.
struct Section {
  std::string title = {};        // text for a terminal
  bool several = false;          // nodes, each of which has `changes`
  std::string unreachable = {};  // why the node could not be read; empty: it was
  bool overridden = false;       // something on the nodes wins over what the manifest requires
  std::vector<const Change*> changes = {};
};

// What several nodes have first, then what is left of each node. Nodes without a change are one
// section, where the first of them stands, and those among them that are overridden another one.
// Precondition: the plan outlives the sections.
std::vector<Section> ListSections(const Plan& plan);

}  // namespace reconciler
