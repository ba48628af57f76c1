#pragma once

#include <utility>
#include <vector>

#include "reconciler/model/adopt/offers.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"

namespace reconciler::plugins {

// Of all nodes that were read. `Input`: PluginInput. `list`: what one of them has, of its input.
template <class Input, class List>
std::vector<AdoptableFile> ListOfAll(const ClusterSpec& cluster, const Fabric& fabric,
                                     const ClusterFacts& all, const List& list) {
  std::vector<AdoptableFile> files;
  for (const NodeSpec& node : cluster.nodes) {
    const auto read = all.nodes.find(node.name);
    if (read == all.nodes.end()) continue;
    for (AdoptableFile& file : list(Input{cluster, fabric, node, read->second, all})) {
      file.node = node.name;
      files.push_back(std::move(file));
    }
  }
  return files;
}

}  // namespace reconciler::plugins
