#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/plan.h"
#include "reconciler/node/session.h"
#include "reconciler/progress/events.h"

namespace reconciler {

enum class ChangeOutcome { kDone, kFailed, kNotRun, kUnknown };

struct NodeApply {
  std::map<std::string, ChangeOutcome> changes = {};  // by Change::Id()
  Errors errors = {};
};

// What was really done, per node: also when it failed half way.
struct ApplyReport {
  std::map<NodeName, NodeApply> nodes = {};
  bool interrupted = false;
  bool Ok() const;
};

// Where an apply journals on the nodes, and how many steps each node has taken in it.
struct Journal {
  std::string directory = {};
  std::map<NodeName, std::size_t> steps = {};
};

// Called before each stage: true ends the apply there (someone pressed Ctrl-C).
using ShouldStop = std::function<bool()>;

// Carries a staged plan out, stage by stage. Nodes whose links a stage sets flip together, since
// both ends of a cable must agree; in any other stage one node goes first, the canary, then all
// others at the same time. A node stops at its first failure, or behind the other values
// (RunCommand::must_succeed) next to it; a stage with a failure is the last one. It gets no plugin,
// so it cannot decide again; deferred and blocked changes are left alone.
ApplyReport Apply(const Plan& plan, const ClusterSpec& cluster, Sessions& sessions,
                  Journal& journal, const OnEvent& on_event, const ShouldStop& should_stop = {});

// What a stage does on one node; empty when there is nothing to do.
std::vector<const Change*> ListWork(const Stage& stage, const NodeName& node);

}  // namespace reconciler
