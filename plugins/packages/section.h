#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::packages {

// One entry of the manifest's `packages`.
struct PackageSpec {
  std::string name = {};
  std::string at_least = {};                                  // empty: any version
  std::optional<std::vector<NodeName>> nodes = std::nullopt;  // nullopt: all
  Position position = {};

  bool On(const NodeName& node) const;
  bool IsMetBy(std::string_view version) const;  // of an installed package
};

// One member of `minimum_versions`.
struct ToolMinimum {
  std::string tool = {};
  std::string version = {};
  Position position = {};
};

std::vector<PackageSpec> ReadPackages(const ClusterSpec& cluster);
std::vector<PackageSpec> ReadPackages(const ClusterSpec& cluster, const NodeName& node);
std::vector<ToolMinimum> ReadMinimums(const ClusterSpec& cluster);

Errors CheckPackages(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::packages
