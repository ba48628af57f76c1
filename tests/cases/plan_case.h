#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"

namespace reconciler::test {

// A folder below tests/cases/plan: cluster.yaml, facts.json (recorded with `status --format json`)
// and plan.txt, what the user is shown.
struct PlanCase {
  std::string folder = {};
  ClusterSpec cluster = {};
  ClusterFacts facts = {};
};

std::vector<std::string> PlanCaseNames();

std::string ReadAll(const std::string& path);

// A problem with the files fails the running test.
PlanCase LoadPlanCase(const std::string& name);
Plan MakeCasePlan(const ClusterSpec& cluster, const ClusterFacts& facts);

}  // namespace reconciler::test
