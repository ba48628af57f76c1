#pragma once

#include <vector>

#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/apply/history.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/verification_outcome.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/planning/ledger.h"

namespace reconciler {

// A node from which everything of ours was removed.
struct EmptiedNode {
  NodeName node = {};
  // Names of what we made and do not delete, for someone may use it by now.
  std::vector<std::string> kept = {};
};

struct UninstallResult {
  std::vector<Change> left = {};          // on nodes that keep their ledger for it
  std::vector<EmptiedNode> emptied = {};  // the others; those that `errors` name are not empty yet
  Errors errors = {};
};

// A file of ours on a node whose ledger does not say what was there before.
struct UnledgeredFile {
  NodeName node = {};
  std::string path = {};
};

// Writes down on the nodes what one apply did: who owns what now, and the generation's document.
// Precondition of everything that writes: the nodes' locks are held.
class LedgerKeeper {
 public:
  // `info` is the generation's document as far as it is known before the apply.
  LedgerKeeper(const ClusterSpec& cluster, GenerationInfo info, bool uninstall, NodePool& pool)
      : cluster_(cluster), info_(std::move(info)), uninstall_(uninstall), pool_(pool) {}

  // `plan` is about to be applied to nodes as `facts` has them.
  void Begin(const Plan& plan, const ClusterFacts& facts);

  // Ledgers that could not be read again if `plan` were applied to nodes as `facts` has them, since
  // they are larger than kLargestLedger. Needs no Begin.
  Errors FindTooLarge(const Plan& plan, const ClusterFacts& facts) const;

  // What `node` keeps when `passes` are committed there.
  Documents MakeDocuments(const NodeName& node, const std::vector<Plan>& passes) const;

  // Nodes that `plan` leaves as they are, and that have work all the same: their ledger is to be
  // written, since they remember nodes that are gone, or things that need no prune any more. When
  // all is uninstalled, these are all that have a ledger, or journals of applies that were
  // reverted.
  std::vector<const NodeSpec*> ListNodesToSettle(const Plan& plan, const ClusterFacts& facts) const;

  // Writes their ledgers.
  Errors Settle(const Plan& plan);

  // Lets every node that was read remember the generation, also one that `passes` did not change,
  // and drop what is too old. `whole`: no difference from the manifest was left beside them; then
  // the ledger of such a node has the manifest's digest too. After a commit and Settle.
  Errors RecordGeneration(const std::vector<Plan>& passes, bool whole);

  // The last step of an uninstall: where nothing of `remaining` is left, we leave nothing either. A
  // node with files of ours and without a ledger keeps its journals.
  UninstallResult FinishUninstall(const Plan& remaining);

  // Files of ours on nodes without a ledger.
  std::vector<UnledgeredFile> FindUnledgered(const ClusterFacts& facts) const;

  // How the verification after the apply ended, for the nodes that remember the generation.
  Errors RecordVerification(VerificationOutcome outcome);

  int generation() const { return generation_; }  // of this apply; 0 before Begin

  // From this apply.
  WayBack FindWayBack() const { return reconciler::FindWayBack(cluster_, facts_, all_plugins_); }

 private:
  LedgerHead MakeLedgerHead(int generation) const;
  const Ledger* FindOldLedger(const NodeName& node) const;
  std::string FormatUnchangedLedger(const std::vector<Plan>& passes, const NodeName& node) const;
  std::vector<std::string> ListUnledgered(const NodeFacts& facts) const;
  bool NeedsLedger(const Plan& plan, const NodeName& node, const NodeFacts& facts) const;
  std::vector<const NodeSpec*> ReadNodes(const ClusterFacts& facts) const;

  const ClusterSpec& cluster_;
  GenerationInfo info_;
  bool uninstall_ = false;
  NodePool& pool_;
  ClusterFacts facts_ = {};  // before the apply
  int generation_ = 0;       // of this apply
  bool all_plugins_ = true;  // of the plan that is applied
};

}  // namespace reconciler
