#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::netplan {

// A file that the manifest's `adopt` names for a node.
struct AdoptEntry {
  std::string path = {};
  std::string digest = {};  // the first digits of its SHA-256: 12 or more, in lower case
  Position position = {};
};

std::vector<AdoptEntry> ReadAdopt(const ClusterSpec& cluster, const NodeName& node);

// As the schema has it.
bool CanBeNamed(std::string_view path);

Errors CheckAdopt(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::netplan
