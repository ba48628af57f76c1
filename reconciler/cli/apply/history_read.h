#pragma once

#include <map>
#include <vector>

#include "reconciler/apply/history.h"
#include "reconciler/cli/context.h"

namespace reconciler::cli {

// What every node that could be read remembers.
struct Histories {
  std::map<NodeName, std::vector<Generation>> nodes = {};
  Errors errors = {};
};

Histories ReadHistories(const Cluster& cluster, const std::vector<NodeName>& nodes);

struct ChosenGeneration {
  int number = 0;
  GenerationInfo info = {};
};

// One generation as the nodes that have it remember it; -1: the one before the newest. An error
// when no node has it, when its document is damaged, or when the nodes have different manifests.
Result<ChosenGeneration> ChooseGeneration(const Histories& histories, int number);

}  // namespace reconciler::cli
