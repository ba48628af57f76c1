#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::qos {

// The manifest's `qos`. What is nullopt there is not managed.
struct Section {
  std::optional<std::set<int>> pfc = std::nullopt;        // priorities, 0 to 7
  std::optional<std::map<int, int>> dscp = std::nullopt;  // DSCP, 0 to 63 → priority
  std::optional<int> tos = std::nullopt;  // the ToS byte: DSCP << 2 and two bits of ECN
  Position position = {};
};

std::optional<Section> ReadSection(const ClusterSpec& cluster);

// As a resource is compared, and as dcb takes it: "3", "26:3 48:6"; "none" where it is empty.
std::string FormatPriorities(const std::set<int>& priorities);
std::string FormatMapping(const std::map<int, int>& mapping);

Errors CheckQos(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::qos
