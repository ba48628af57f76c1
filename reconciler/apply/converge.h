#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/apply/steps/apply.h"
#include "reconciler/base/result.h"
#include "reconciler/gather/reply/trial.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {

// How the state is read and planned again, by new logins where the old ones were dropped: gather,
// then MakePlan over the same scope. What is on trial is read as if it were committed.
using Replan = std::function<Result<Plan>(const Trials& trials)>;

struct ConvergeOptions {
  ShouldStop should_stop = {};
  Plan before = {};  // all that differed before the apply, not only what it changes
  std::set<std::string> beside = {};  // ids of changes that the plan leaves alone on purpose
  int readings = 6;                   // of one pass, before what differs counts
  std::chrono::milliseconds between_readings{700};
  // What a node keeps of this apply once it is committed; called once per node, with all passes
  // that were carried out.
  std::function<Documents(const NodeName&, const std::vector<Plan>& passes)> documents = {};
  GuardTimes times = {};
  bool allow_unproven = false;  // keep the change though pairs of nodes do not reach each other
  bool allow_silent_beacons = false;  // commit though nodes do not reach their peers' beacons
  // Called when pairs do not reach each other, while the new configuration is still there: what may
  // be wrong between the nodes.
  std::function<std::vector<std::string>()> why_unproven = {};
};

// What a node is after an apply that failed, from a new reading.
enum class NodeEnd { kAsBefore, kNew, kMixed, kUnknown };
std::string_view ToString(NodeEnd end);  // "as before"

struct ConvergeReport {
  std::string apply_id = {};  // names the journals on the nodes
  ApplyReport applied = {};   // all passes together
  Plan remaining = {};  // of the last gather; what still differs when the apply did not converge
  Errors errors = {};
  Errors silent_beacons = {};             // committed although nodes did not reach these
  bool converged = false;                 // committed on every node, and nothing differs
  bool committed = false;                 // on every node, whatever was read afterwards
  bool commit_failed = false;             // a node did not answer it; others may have committed
  bool reverted = false;                  // it failed, and every node is as it was before
  std::map<NodeName, NodeEnd> ends = {};  // when it neither converged nor was reverted
  std::vector<Plan> passes = {};          // as they were carried out
  std::vector<std::string> kept =
      {};  // ids that a revert leaves, because deleting could lose something
  std::map<NodeName, std::vector<std::string>> notes = {};  // see EndNotes
};

// Stages `plan` on every node and arms its revert, carries it out, reads everything again by new
// logins until nothing differs, proves that the nodes reach each other, and commits in two steps.
// Whatever fails before the commit, every node reverts the plan. Changes that the plan announced
// as "known after apply" are carried out by further passes; anything else that differs afterwards
// is an error that names the field, wanted and found. Reading back is tried for a few seconds:
// networkd settles after its command returned. Nodes behind blocked ports need not reach each
// other's beacons: that is in the report.
ConvergeReport Converge(const Plan& plan, const ClusterSpec& cluster, const Fabric& fabric,
                        Sessions& sessions, NodePool& pool, const Replan& replan,
                        const OnEvent& on_event, const ConvergeOptions& options = {});

}  // namespace reconciler
