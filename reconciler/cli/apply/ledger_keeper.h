#pragma once

#include <vector>

#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/apply/history.h"
#include "reconciler/cli/context.h"
#include "reconciler/model/ledger.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/planning/ledger.h"

namespace reconciler::cli {

// Writes down on the nodes what one apply did: who owns what now, and the generation's document.
// Precondition of everything but Texts: the nodes' locks are held.
class LedgerKeeper {
 public:
  // `info` is the generation's document as far as it is known before the apply.
  LedgerKeeper(const ClusterSpec& cluster, GenerationInfo info, bool uninstall, NodePool& pool)
      : cluster_(cluster), info_(std::move(info)), uninstall_(uninstall), pool_(pool) {}

  // `plan` is about to be applied to nodes as `facts` has them.
  void Begin(const Plan& plan, const ClusterFacts& facts);

  // What `node` keeps when `passes` are committed there.
  Documents MakeDocuments(const NodeName& node, const std::vector<Plan>& passes) const;

  // Nodes that `plan` leaves as they are, and whose ledger is to be written all the same: they
  // remember nodes that are gone, or things that nobody has to take back any more. When all is
  // uninstalled, every node has something to forget.
  std::vector<const NodeSpec*> ListNodesToSettle(const Plan& plan, const ClusterFacts& facts) const;

  // Writes those.
  Errors Settle(const Plan& plan);

  // The last step of an uninstall: where nothing of `remaining` is left, we leave nothing either.
  // Says what is left and what is gone; returns the exit code.
  int FinishUninstall(const Plan& remaining);

  // Says which files of ours lie on nodes without a ledger; returns the exit code.
  int ReportUnledgered(const ClusterFacts& facts) const;

  // How the verification after the apply ended, for the nodes that committed `passes`.
  Errors Record(int verified, const std::vector<Plan>& passes);

 private:
  LedgerHead MakeLedgerHead(int generation) const;
  const Ledger* FindOldLedger(const NodeName& node) const;
  std::string ListKept(const NodeName& node) const;
  std::vector<const NodeSpec*> ReadNodes(const ClusterFacts& facts) const;

  const ClusterSpec& cluster_;
  GenerationInfo info_;
  bool uninstall_ = false;
  NodePool& pool_;
  ClusterFacts facts_ = {};  // before the apply
  int generation_ = 0;       // of this apply
};

}  // namespace reconciler::cli
