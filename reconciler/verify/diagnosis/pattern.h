#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// One measured direction on one rail. `bad`: it failed in the way that is being looked into.
struct Arrow {
  NodeName from = {};
  NodeName to = {};
  int rail = 0;  // -1: over the management network
  bool bad = false;
  std::size_t check = 0;  // index into the report's checks
};

enum class Scope {
  kEverywhere,  // every node with every other; nodes: all of them
  kNode,        // one node with all its peers, both ways
  kPair,        // two nodes with each other, both ways
  kIncoming,    // from every peer to one node, not back
  kOutgoing,    // from one node to every peer, not back
  kOneWay,      // nodes: from, to
};

struct Pattern {
  Scope scope = Scope::kPair;
  std::vector<NodeName> nodes = {};
  std::set<int> rails = {};
  std::vector<std::size_t> checks = {};
  bool operator==(const Pattern&) const = default;
};

// The widest scopes that hold for every measured arrow in them; each bad arrow is in exactly one.
// A path carries packets both ways, so a fault of it is looked for in both directions first.
std::vector<Pattern> FindPathPatterns(const std::vector<Arrow>& arrows);
// A login can be refused in one direction alone: who lets no one in, who gets in nowhere.
std::vector<Pattern> FindLoginPatterns(const std::vector<Arrow>& arrows);

}  // namespace reconciler
