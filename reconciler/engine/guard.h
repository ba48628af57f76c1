#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/engine/apply.h"
#include "reconciler/engine/guard_script.h"
#include "reconciler/engine/node_pool.h"
#include "reconciler/model/plan.h"

namespace reconciler {

// Takes back what cut-off applies left undecided on `nodes` (see LeftoversScript). Precondition:
// the nodes' locks are held. Returns one line per node where there was something.
Result<std::vector<std::string>> TakeBackLeftovers(const std::vector<const NodeSpec*>& nodes,
                                                   NodePool& pool);

// Arms the nodes' own revert before the first change and decides about it at the end. One guard
// covers one apply, all its passes included.
class Guard {
 public:
  Guard(const ClusterSpec& cluster, NodePool& pool, std::string apply_id)
      : cluster_(cluster), pool_(pool), apply_id_(std::move(apply_id)) {}

  // Every node that `pass` changes is armed, at the same time, and read back. Any error: nothing
  // may be changed; what was armed must be taken back with Revert. `journal` is as it stands before
  // the pass.
  Errors Arm(const Plan& pass, const Journal& journal);

  // Ends the guard on every armed node and writes the ledger. An error means that a node took the
  // plan back before we came, or could not be asked: the cluster may be mixed.
  Errors Commit(const std::function<CommitTexts(const NodeName&)>& texts);

  // Every armed node takes the plan back now. A node that cannot be asked does so by itself when
  // its limit has passed; it is tried again until then.
  Errors Revert();

  bool Armed() const { return !stages_.empty(); }

 private:
  std::vector<const NodeSpec*> Nodes() const;  // that this apply changes
  Errors OnEveryNode(const std::string& what,
                     const std::function<std::string(const NodeName&)>& script);

  const ClusterSpec& cluster_;
  NodePool& pool_;
  std::string apply_id_;
  std::map<NodeName, std::vector<GuardedStage>> stages_ = {};  // of all passes, in order
};

}  // namespace reconciler
