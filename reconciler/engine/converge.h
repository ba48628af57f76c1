#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/engine/apply.h"
#include "reconciler/engine/guard_script.h"
#include "reconciler/engine/plan_maker.h"

namespace reconciler {

// How the world is read and planned anew: gather, then MakePlan over the same scope.
using Replan = std::function<Result<Plan>()>;

struct ConvergeOptions {
  ShouldStop should_stop = {};
  Plan before = {};  // all that differed before the apply, not only what it changes
  std::set<std::string> beside = {};  // ids of changes that the plan leaves alone on purpose
  int readings = 6;                   // of one pass, before what differs counts
  std::chrono::milliseconds between_readings{700};
  // What a node keeps of this apply when it is committed; asked once per node, at the end, with all
  // passes that were carried out.
  std::function<CommitTexts(const NodeName&, const std::vector<Plan>& passes)> commit = {};
};

struct ConvergeReport {
  std::string apply_id = {};  // names the journals on the nodes
  ApplyReport applied = {};   // all passes together
  Plan remaining = {};  // of the last gather; what still differs when the apply did not converge
  Errors errors = {};
  bool converged = false;         // committed on every node, and nothing differs
  bool undone = false;            // it failed, and every node is as it was before
  std::vector<Plan> passes = {};  // as they were carried out
  std::vector<std::string> kept =
      {};  // ids that an undo leaves, because deleting could lose something
};

// Arms every node's own revert, applies `plan`, then gathers again by new connections until nothing
// differs, and commits. Whatever fails on the way, every node takes the plan back. Changes that the
// plan announced as "known after apply" are carried out by further passes; anything else that
// differs afterwards is an error that names the field, wanted and found. Reading back is tried for
// a few seconds: networkd settles after its command returned.
ConvergeReport Converge(const Plan& plan, const ClusterSpec& cluster, NodePool& pool,
                        const Replan& replan, const OnEvent& on_event,
                        const ConvergeOptions& options = {});

}  // namespace reconciler
