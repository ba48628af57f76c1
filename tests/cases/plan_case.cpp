#include "tests/cases/plan_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "plugins/registry.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/plan_maker.h"
#include "tests/support/paths.h"

namespace reconciler::test {
namespace {

const std::string kCases = SourceDir() + "/tests/cases/plan";

}  // namespace

std::vector<std::string> PlanCaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

PlanCase LoadPlanCase(const std::string& name) {
  PlanCase loaded{.folder = kCases + "/" + name};
  auto cluster = LoadClusterSpec(ReadAll(loaded.folder + "/cluster.yaml"), "cluster.yaml");
  if (!cluster) {
    ADD_FAILURE() << FormatErrors(cluster.error());
    return loaded;
  }
  auto facts = ParseFacts(ReadAll(loaded.folder + "/facts.json"));
  if (!facts) {
    ADD_FAILURE() << FormatError(facts.error());
    return loaded;
  }
  loaded.cluster = std::move(*cluster);
  loaded.facts = std::move(*facts);
  return loaded;
}

Plan MakeCasePlan(const ClusterSpec& cluster, const ClusterFacts& facts) {
  const auto fabric = ExpandFabric(cluster);
  if (!fabric) {
    ADD_FAILURE() << FormatErrors(fabric.error());
    return {};
  }
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.check == nullptr) continue;
    const Errors errors = plugin.check(cluster, *fabric);
    EXPECT_TRUE(errors.empty()) << FormatErrors(errors);
  }
  auto plan = MakePlan(cluster, *fabric, facts, plugins::GetAll());
  if (!plan) {
    ADD_FAILURE() << FormatError(plan.error());
    return {};
  }
  return std::move(*plan);
}

}  // namespace reconciler::test
