#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler::plugins {

// Of a digest: as many as `adopt` needs, and as messages show.
inline constexpr std::size_t kShownDigits = 12;

// What `adopt` could name: one entry for all nodes that have the thing.
struct AdoptOffer {
  std::string entry = {};                        // as in AdoptableFile: "file: PATH"
  std::map<NodeName, std::string> digests = {};  // all empty: it is no file
};

// By the path of what is adopted.
using AdoptOffers = std::map<std::string, std::vector<AdoptOffer>>;

void AddOffer(const NodeName& node, const std::string& path, const std::string& entry,
              const std::string& digest, AdoptOffers& offers);

// Of all nodes that were read. `input`: a PluginInput. `list`: what one of them has, as
// AdoptableFile.
template <class Input, class List>
AdoptOffers CollectOffers(const Input& input, const List& list) {
  AdoptOffers offers;
  for (const NodeSpec& node : input.cluster.nodes) {
    const auto read = input.all.nodes.find(node.name);
    if (read == input.all.nodes.end()) continue;
    const Input other{input.cluster, input.fabric, node, read->second, input.all};
    for (const auto& file : list(other)) {
      AddOffer(node.name, file.path, file.entry, file.digest, offers);
    }
  }
  return offers;
}

// "add {file: PATH, nodes: {spark-1: "…", spark-2: "…"}} to adopt". Where `adopt` has an entry of
// that name already, it is extended: a second one would be an error.
std::string AdviseToAdopt(const ClusterSpec& cluster, const std::vector<AdoptOffer>& offers);

}  // namespace reconciler::plugins
