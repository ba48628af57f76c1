#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "reconciler/apply/converge.h"
#include "reconciler/apply/ledger_keeper.h"
#include "reconciler/apply/verification.h"
#include "reconciler/cabling/judge.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/model/verification_outcome.h"
#include "reconciler/node/session.h"

namespace reconciler {

// What an apply is about. The references outlive the apply.
struct ClusterApplyInput {
  const ClusterSpec& cluster;
  const Fabric& fabric;
  const std::vector<Plugin>& plugins;
  PlanScope scope = {};
  GenerationInfo info = {};  // the generation's document, as far as it is known before the plan
};

struct ClusterApplyOptions {
  bool allow_node_removal = false;
  bool allow_unreached = false;  // go on without nodes that cannot be read
  bool allow_unproven = false;
  bool allow_silent_beacons = false;
  bool allow_half_cables = false;
  bool allow_wrong_cables = false;
  bool interrupt = false;  // end work that runs on the nodes
  GuardTimes times = {};
};

// Functions that an apply calls; all are set.
struct ClusterApplyHooks {
  // Reads the nodes in `scope`, with new logins where the old ones were dropped.
  std::function<ClusterFacts(const PlanScope& scope, const Trials& trials)> read;
  OnEvent on_event;
  ShouldStop should_stop;                                 // called while nodes are changed
  std::function<void()> on_changing;                      // nodes are about to be changed
  std::function<void(const std::string&)> on_unfinished;  // what was ended of an earlier apply
  std::function<void(const CablingReport&)> on_cabling;   // before a change, where it is checked
};

enum class RefusalKind {
  kNoPlan,
  kStale,            // the approved plan no longer fits
  kNewDrift,         // something differs that was not in the plan
  kUnreached,        // a node could not be read
  kNotAllowed,       // a ledger, or what the hardware of a node rules out
  kHalfCables,       // one end of a cable would change alone
  kInterrupts,       // work that runs on the nodes would end
  kWrongCables,      // not the manifest's
  kLocked,           // another apply is running
  kNoSession,        // no lock came about
  kNodeLost,         // a node that was read cannot be reached any more
  kStillUnfinished,  // an earlier apply could not be ended
};

// Why nothing is changed.
struct ApplyRefusal {
  RefusalKind kind = RefusalKind::kNoPlan;
  Errors errors = {};
  std::vector<std::string> lines =
      {};  // cables, pieces of work; kStillUnfinished, kUnreached: nodes
  std::vector<Diagnostic> diagnostics = {};  // what blocks everything
};

struct Proposal {
  std::optional<Plan> plan = std::nullopt;  // nothing: refused before there was anything to show
  std::optional<ApplyRefusal> refusal = std::nullopt;
  // Earlier applies that are neither committed nor reverted, one line each. Where there are any,
  // nothing else is set but a refusal: end them, and propose again.
  std::vector<std::string> unfinished = {};
  bool needs_work = false;  // nodes or ledgers differ
  std::size_t beside = 0;   // differences that a saved plan does not hold
};

struct ClusterApplyResult {
  std::optional<ApplyRefusal> refusal = std::nullopt;   // then nothing else is set
  std::optional<ConvergeReport> report = std::nullopt;  // nothing: no node had to be changed
  std::size_t beside = 0;  // differences that were not in the plan and are left as they are
  Plan remaining = {};     // what still differs
  Errors ledger_errors = {};
  std::optional<UninstallResult> uninstall = std::nullopt;
};

// One apply: plan, lock, end what an earlier apply left, plan again under the lock, refuse or
// converge, and write the ledgers. Decides and returns; neither prints nor prompts. The nodes'
// locks are held from EndUnfinished or CarryOut until it is destroyed.
class ClusterApply {
 public:
  ClusterApply(ClusterApplyInput input, ClusterApplyOptions options, ClusterApplyHooks hooks,
               NodePool& pool);

  ~ClusterApply();
  ClusterApply(const ClusterApply&) = delete;
  ClusterApply& operator=(const ClusterApply&) = delete;

  // Where there is no prompt between what is proposed and its being carried out, the nodes may be
  // locked before they are read, so that one reading serves both. Where a node cannot be locked,
  // was never applied to, or holds an unfinished apply, none is, and all goes the usual way.
  // Precondition: nothing was proposed yet, and what is proposed next is carried out at once or not
  // at all.
  void LockAhead();

  // What will be done: the plan of the facts; of it, what `saved` selects where there is one that
  // still fits.
  Proposal Propose(const std::optional<Plan>& saved);

  // Locks the nodes, and ends what earlier applies left there: see EndUnfinishedApplies.
  std::optional<ApplyRefusal> EndUnfinished() { return OpenSessions(); }

  // Carries out what is planned under the lock, when it is what was approved. Precondition:
  // `approved` was proposed.
  ClusterApplyResult CarryOut(const Plan& approved);

  std::vector<UnledgeredFile> FindUnledgered() const { return keeper_.FindUnledgered(facts_); }

  // Whether the manifest's verification follows. `remaining` outlives the result.
  VerificationNeed FindVerificationNeed(const Plan& remaining) const;

  // Writes the outcome down on the nodes that committed something.
  Errors RecordVerification(VerificationOutcome outcome);

  const ClusterFacts& facts() const { return facts_; }  // as they were read last

  // Of what was committed; 0: nothing was.
  int FindGeneration() const { return passes_.empty() ? 0 : keeper_.generation(); }

  // Of the apply that was begun, also where it was not committed; 0: none was.
  int FindBegunGeneration() const { return keeper_.generation(); }

  // From what was committed.
  WayBack FindWayBack() const { return passes_.empty() ? WayBack() : keeper_.FindWayBack(); }

  // The nodes that could not be read at first, and are left out.
  std::vector<NodeName> ListAbsent() const;

 private:
  Result<Plan> Replan(const Trials& trials);
  std::optional<ApplyRefusal> FindUnreached() const;
  std::optional<ApplyRefusal> FindForbidden() const;
  Errors FindRunning() const;  // applies of other controllers
  std::optional<ApplyRefusal> FindRefusal(const Plan& plan, const Plan& now) const;
  std::optional<ApplyRefusal> OpenSessions();
  Result<std::unique_ptr<Sessions>> OpenLocks(const std::vector<const NodeSpec*>& nodes,
                                              LockNodes which = LockNodes::kAll);
  void Hold(std::unique_ptr<Sessions> sessions);
  std::optional<ApplyRefusal> CheckCabling();
  ConvergeReport RunConverge(const Plan& plan, const Plan& now,
                             const std::set<std::string>& beside);
  ClusterApplyResult Settle(const Plan& plan, ClusterApplyResult result);
  std::vector<const NodeSpec*> ListReached() const;

  const ClusterSpec& cluster_;
  const Fabric& fabric_;
  LocatedCluster located_;  // by the facts that the plan was made from
  const std::vector<Plugin>& plugins_;
  PlanScope scope_;
  ClusterApplyOptions options_;
  ClusterApplyHooks hooks_;
  NodePool& pool_;
  LedgerKeeper keeper_;
  ClusterFacts facts_ = {};
  std::map<NodeName, Error> absent_ = {};  // from the start
  bool ended_unfinished_ = false;
  bool is_saved_ = false;          // what is proposed was saved before
  std::vector<Plan> passes_ = {};  // of a committed apply
  std::unique_ptr<Sessions> sessions_ = nullptr;
  std::optional<Plan> read_ahead_ =
      std::nullopt;  // of facts that were read below LockAhead's locks
  bool locks_ahead_ = false;
  std::jthread alive_ = {};  // shows the nodes that someone is there
};

}  // namespace reconciler
