#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reconciler/cabling/view.h"
#include "reconciler/model/facts.h"
#include "reconciler/plugin.h"

namespace reconciler {

struct FoundNode {
  NodeName name = {};        // in the manifest
  std::string address = {};  // of management
  bool operator==(const FoundNode&) const = default;
};

// A manifest for nodes as they are.
struct Discovery {
  std::string manifest = {};            // YAML with comments, without the gaps and the notes
  std::vector<std::string> gaps = {};   // what it cannot say, or what an apply of it would change
  std::vector<std::string> notes = {};  // what it says as it is, and what does not last
  std::vector<FoundNode> nodes = {};    // in the manifest's order
};

// The manifest for a person to edit, with the gaps and the notes as comments at its end.
std::string FormatDiscovery(const Discovery& discovery);

// A document valid against schema/discovery.schema.json, without its head. `is_valid`: a plan can
// be made of the manifest.
nlohmann::ordered_json ToJson(const Discovery& discovery, bool is_valid);

// `hosts`: the nodes as they were named, with names that stand for the time of reading; all of them
// were read. `user`: who logged in, but to nodes whose access has another user. Pure.
Discovery Discover(const ClusterSpec& hosts, const ClusterFacts& facts, const CablingViews& views,
                   const std::string& user, const std::vector<Plugin>& plugins);

}  // namespace reconciler
