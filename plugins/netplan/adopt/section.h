#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::netplan {

// What the manifest's `adopt` names for a node: a netplan file by its path, or a profile of
// NetworkManager, whose keyfile is only found on the node.
struct AdoptEntry {
  std::string path = {};    // of a profile: empty until its keyfile is found
  std::string digest = {};  // the first digits of its SHA-256: 12 or more, in lower case
  Position position = {};
  std::string profile = {};  // its name or UUID; empty: it is a netplan file
};

std::vector<AdoptEntry> ReadAdopt(const ClusterSpec& cluster, const NodeName& node);

// As the schema has them.
bool CanBeNamed(std::string_view path);
bool CanNameProfile(std::string_view name);

Errors CheckAdopt(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::netplan
