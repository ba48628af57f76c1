#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::netplan {

// kKeptProfile: a profile of NetworkManager that it keeps as a netplan file.
enum class AdoptKind { kFile, kProfile, kKeptProfile, kUnit };

// What the manifest's `adopt` names for a node: a netplan file or a unit of networkd by its path,
// or a profile of NetworkManager, whose file is only found on the node.
struct AdoptEntry {
  std::string path = {};    // of a profile: empty until its file is found
  std::string digest = {};  // the first digits of its SHA-256: 12 or more, in lower case
  Position position = {};
  std::string profile = {};  // its name or UUID; empty: it is no profile
  std::string unit = {};     // of a service, which has no path here
};

AdoptKind GetKind(const AdoptEntry& entry);

// Without the services, and without the bonds and bridges, which have no file of their own.
std::vector<AdoptEntry> ReadAdopt(const ClusterSpec& cluster, const NodeName& node);
// Services that configure ports at boot.
std::vector<AdoptEntry> ReadAdoptedUnits(const ClusterSpec& cluster, const NodeName& node);

// Names of bonds and bridges.
using Masters = std::set<std::string>;
Masters ReadAdoptedMasters(const ClusterSpec& cluster, const NodeName& node);
Position FindMasterPosition(const ClusterSpec& cluster, const std::string& master);

// As the schema has them.
bool CanBeNamed(std::string_view path);
bool CanNameProfile(std::string_view name);
bool CanNameMaster(std::string_view name);
bool CanNameUnit(std::string_view path);

Errors CheckAdopt(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::netplan
