#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/property/scenario.h"

namespace reconciler {
namespace {

void Shuffle(std::vector<std::string>& items) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[*rc::gen::inRange<std::size_t>(0, i)]);
  }
}

// Each node's changes by stage and id, without the manifest line, which moves with the item.
std::map<std::string, Change> ByNode(const Plan& plan) {
  std::map<std::string, Change> changes;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    for (Change change : plan.stages[i].changes) {
      change.where = {};
      changes[std::to_string(i) + " " + change.Id()] = change;
    }
  }
  return changes;
}

RC_GTEST_PROP(Plan, TheOrderOfNodesUnitsAndKeysChangesNothingOnAnyNode, ()) {
  test::ManifestParts parts = test::AnyManifest(2, 5);
  test::Scenario scenario = test::MakeScenario(parts);
  if (*rc::gen::arbitrary<bool>()) {  // with key pairs, so that authorized_keys has lines
    const Plan first = scenario.MakePlan();
    for (const NodeSpec& node : scenario.cluster.nodes) {
      if (*rc::gen::arbitrary<bool>()) ApplyFiles(first, node, scenario.nodes.at(node.name));
    }
  }
  Shuffle(parts.nodes);
  Shuffle(parts.units);
  Shuffle(parts.sysctl);
  test::Scenario turned = test::MakeScenario(parts);
  turned.nodes = scenario.nodes;
  RC_ASSERT(ByNode(turned.MakePlan()) == ByNode(scenario.MakePlan()));
}

}  // namespace
}  // namespace reconciler
