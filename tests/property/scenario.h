#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/plan.h"
#include "tests/property/fake_node.h"

namespace reconciler::test {

// The parts of a manifest whose order means nothing, as lines of YAML.
struct ManifestParts {
  std::string user = {};
  std::vector<std::string> nodes = {};
  std::vector<std::string> units = {};
  std::vector<std::string> sysctl = {};

  std::string Yaml() const;
};

// What a user may write, hostile text wherever the schema lets text through. Only within a
// property.
ManifestParts AnyManifest(std::size_t least_nodes, std::size_t most_nodes);

// A cluster and its nodes.
struct Scenario {
  ClusterSpec cluster = {};
  Fabric fabric = {};
  std::map<NodeName, FakeNode> nodes = {};

  ClusterFacts Facts() const;
  Plan MakePlan() const;  // of what the nodes say now
};

// Fails the property when the manifest is refused. Nodes are bare.
Scenario MakeScenario(const ManifestParts& manifest);

Plan MakePlanFrom(const Scenario& scenario, const ClusterFacts& facts);

}  // namespace reconciler::test
