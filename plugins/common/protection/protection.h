#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"

namespace reconciler::plugins {

// The interfaces of a node that lead to it. No plugin changes anything about them.
struct Protection {
  std::string unclear = {};  // not empty: why they are unknown, so that every interface counts
  std::map<std::string, std::string> carries = {};  // netdev → "carries this session"

  std::vector<std::string> Netdevs() const;
};

Protection FindProtection(const NodeSpec& node, const NodeFacts& facts);

// Why not all of these interfaces may be changed; empty: they may.
std::string ExplainProtected(const Protection& protection, const std::vector<std::string>& netdevs);

}  // namespace reconciler::plugins
