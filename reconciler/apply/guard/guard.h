#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "reconciler/apply/guard/beacon_proof.h"
#include "reconciler/apply/guard/end_notes.h"
#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/apply/guard/revert_script.h"
#include "reconciler/apply/steps/apply.h"
#include "reconciler/model/plan.h"
#include "reconciler/node/session.h"

namespace reconciler {

struct EndedApplies {
  // For each apply and node one, and behind it what was kept elsewhere or lost there.
  std::vector<std::string> lines = {};
  std::optional<Error> error = {};  // the first; what `lines` names has ended all the same
};

// Ends what cut-off applies left undecided, or decided and not carried out, on `nodes`. All nodes
// of one apply end the same way: committed where any of them has committed; a node that is ready
// checks its peers' beacons, which need not be among `nodes`; others revert it. `whole`: these are
// all nodes of the cluster, so that no one needs their beacons afterwards. Precondition: the nodes'
// locks are held.
EndedApplies EndUnfinishedApplies(const std::vector<const NodeSpec*>& nodes, bool whole,
                                  Sessions& sessions);

// Whether it would end anything on `nodes`. Precondition: as there.
Result<bool> HasUnfinishedApplies(const std::vector<const NodeSpec*>& nodes, Sessions& sessions);

// Arms the nodes' own revert before the first change and decides about it at the end. One guard
// covers one apply, all its passes included.
// How long a node may take to end an apply: netplan and services take their time.
inline constexpr Milliseconds kGuardEndLimit{180000};

class Guard {
 public:
  Guard(const ClusterSpec& cluster, Sessions& sessions, std::string apply_id, GuardTimes times)
      : cluster_(cluster), sessions_(sessions), apply_id_(std::move(apply_id)), times_(times) {}

  // Every node that `pass` changes gets its bytes and is armed, as many at a time as the sessions
  // allow, and read back.
  // Any error: nothing may be changed; what was armed must be reverted with Revert. `journal` is
  // as it stands before the pass.
  Errors StageAndArm(const Plan& pass, const Fabric& fabric, const Journal& journal);

  // Every armed node looks for its peers at addresses like those of their beacons: without a
  // controller a node that does not reach them would revert what they commit. Returns what each
  // node found (see FindSilentBeacons). Errors: that is not known of a node.
  tl::expected<std::map<NodeName, BeaconPaths>, Errors> ProveBeacons(const Fabric& fabric);

  // Two steps: first every armed node says that it is ready, then every one commits. An error of
  // the first step: nothing is committed anywhere, and Revert reverts it. An error of the
  // second: the node named could not be notified; it decides on its own, as its peers did.
  Errors RecordIntent(const Fabric& fabric,
                      const std::function<Documents(const NodeName&)>& documents);
  Errors Commit();
  Errors Finish();

  // Every armed node reverts the plan now. A node that cannot be queried does so on its own when
  // its limit has passed; it is tried again until then. `in_a_step`: nodes that may still be
  // running a step, which is progress for as long as the step may take.
  Errors Revert(const std::set<NodeName>& in_a_step = {});

  // What a commit or a revert kept elsewhere or lost, of the nodes where there was something (see
  // EndNotes).
  const std::map<NodeName, std::vector<std::string>>& notes() const { return notes_; }

  bool IsArmed() const { return !stages_.empty(); }
  std::set<NodeName> ListApplied() const;

 private:
  std::vector<const NodeSpec*> ListNodes() const;  // that this apply changes
  using OnReply = std::function<void(const NodeName&, const ScriptReply&)>;  // one at a time
  // `at_once`: see ForEachNode.
  Errors RunOnEveryNode(const std::string& what,
                        const std::function<std::string(const NodeName&)>& request,
                        const OnReply& on_reply = {}, std::size_t at_once = 0);

  // Tried again, through new sessions, until the node has decided.
  Errors EndOnEveryNode(const std::string& what, const std::string& request,
                        const std::set<NodeName>& in_a_step = {});
  Result<void> EndOnNode(const NodeSpec& node, const std::string& what, const std::string& request,
                         std::chrono::seconds limit, EndNotes& notes);
  int FindLongestStep(const NodeName& node) const;  // seconds

  const ClusterSpec& cluster_;
  Sessions& sessions_;
  std::string apply_id_;
  GuardTimes times_;
  std::map<NodeName, std::vector<GuardedStage>> stages_ = {};  // of all passes, in order
  int rounds_ = 1;  // in which a cut-off node checks its peers, the most of any node
  std::map<NodeName, std::vector<std::string>> notes_ = {};
  std::jthread beat_ = {};
};

}  // namespace reconciler
