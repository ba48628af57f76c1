#pragma once

#include <optional>
#include <set>
#include <string>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

// A VLAN, bridge, bond or the like of another netplan file, and the interface below it that no file
// defines any more. Then `netplan generate` refuses all files. At boot netplan 0.106 and 1.0
// configure nothing; 1.1 leaves out what refers to the interface.
struct DanglingReference {
  std::string path = {};    // of the other file
  std::string name = {};    // "st.50"
  std::string netdev = {};  // "enp1s0f1np1"

  // Of a port of ours: what it is, and how the port gets a definition besides ours.
  std::string Explain() const;
  // Of one that stays down without being in our file. A file that defined it would configure it.
  std::string ExplainDown() const;
};

// What the text of a netplan file has below `ethernets`.
std::set<std::string> ListDefined(const std::string& text, const std::string& path);

// The first one in files that stay, where nothing but what goes defines `lost`. `without`: paths of
// files that go too. nullopt also where the files cannot be read: see ForeignTree::unclear.
std::optional<DanglingReference> FindDanglingReference(const NodeFacts& facts,
                                                       std::set<std::string> lost,
                                                       const std::set<std::string>& without = {});

// The first one that there would be without our file, which has this text. What is written again
// from the ledger counts as there: it is pruned together with our file.
std::optional<DanglingReference> FindReferenceToOurs(const NodeFacts& facts,
                                                     const std::string& own_text);

// The first one that there would be once our file on the node is written without what it defines
// now. `still_defined`: what it or a file that comes back defines then.
std::optional<DanglingReference> FindReferenceToLost(const NodeFacts& facts,
                                                     const std::set<std::string>& still_defined,
                                                     const std::set<std::string>& without);

}  // namespace reconciler::plugins::netplan
