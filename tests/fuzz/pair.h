#pragma once

#include <string_view>

#include "reconciler/cluster/cluster.h"
#include "reconciler/model/plan.h"
#include "tests/property/fake_node.h"

namespace reconciler::fuzz {

// Two nodes with all that plugins manage, as tests/fuzz/pair.yaml says.
const Cluster& GetPair();

// What all plugins read of the first node.
const std::vector<Read>& GetReads();

// A node with nothing of ours, as it answers them.
ProbeReply AnswerBare(std::size_t node);

// What the plugins' parsers make of it.
NodeFacts ParseReply(std::size_t node, const ProbeReply& reply);

// What is planned where the first node says this and the second one is bare. Whatever it says: the
// plan comes about, can be shown, and comes back from its JSON, as the facts do.
Plan PlanPair(NodeFacts first);

// A plan that can be shown and comes back from its JSON.
void CheckPlan(const Plan& plan);

}  // namespace reconciler::fuzz
