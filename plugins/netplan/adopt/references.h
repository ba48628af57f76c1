#pragma once

#include <optional>
#include <string>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

// A VLAN, bridge, bond or the like of another netplan file, and the port below it that only our
// file defines. Without our file `netplan generate` refuses all files. At boot netplan 0.106
// and 1.0 then configure nothing; 1.1 leaves out what refers to the port.
struct DanglingReference {
  std::string path = {};    // of the other file
  std::string name = {};    // "st.50"
  std::string netdev = {};  // "enp1s0f1np1"

  std::string Explain() const;  // what it is, and how the port gets a definition besides ours
};

// The first one that there would be without our file, which has this text. What is written again
// from the ledger counts as there: it is pruned together with our file. nullopt also where the
// files cannot be read: see ForeignTree::unclear.
std::optional<DanglingReference> FindDanglingReference(const NodeFacts& facts,
                                                       const std::string& own_text);

}  // namespace reconciler::plugins::netplan
