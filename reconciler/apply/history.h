#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reconciler/node/node_pool.h"

namespace reconciler {

// One committed apply as a node keeps it.
struct Generation {
  int number = 0;             // of the cluster: the same apply has the same number on every node
  std::string document = {};  // the JSON that was committed
};

// The node's generations, oldest first; empty when nothing was ever applied there.
Result<std::vector<Generation>> ReadHistory(const NodeSpec& node, NodePool& pool);

// What a generation's document says, as far as it can be read.
struct GenerationInfo {
  std::string plan = {};
  std::string cluster = {};
  std::string manifest = {};  // the file, as the user named it
  std::string manifest_digest = {};
  std::string manifest_text = {};  // its bytes
  std::string time = {};           // "2026-01-31T12:00:00Z"
  std::string by = {};
  std::string commit = {};        // of the repository that the manifest lies in; empty: in none
  bool dirty = false;             // the manifest was not as that commit has it
  std::string verification = {};  // "passed", "failed", "not measured"; empty: not run
  std::size_t changes = 0;
  int rolled_back_to = -1;  // the generation whose manifest it is; -1: no rollback
};

std::string FormatGeneration(const GenerationInfo& info);
Result<GenerationInfo> ParseGeneration(const std::string& document);

// What every node that could be read remembers.
struct Histories {
  std::map<NodeName, std::vector<Generation>> nodes = {};
  Errors errors = {};
};

// All `nodes` at the same time.
Histories ReadHistories(const std::vector<const NodeSpec*>& nodes, NodePool& pool);

struct ChosenGeneration {
  int number = 0;
  GenerationInfo info = {};
};

// One generation as the nodes that have it remember it; -1: the one before the newest. An error
// when no node has it, when its document is damaged, or when the nodes have different manifests;
// kTransport when no node could be read.
Result<ChosenGeneration> ChooseGeneration(const Histories& histories, int number);

// The generation that a rollback goes to: every node that could be read must have it, with the same
// manifest. No single node can bring in a manifest, or keep one away. -1: the one before the
// newest, which they must agree on as well.
Result<ChosenGeneration> ChooseForRollback(const Histories& histories, int number);

// "generation 4 of pair.yaml (0123456789ab), applied 2026-01-31T12:00:00Z by USER", and where its
// manifest is that of the newest one, which generation last had another one. One line each.
// Precondition: `chosen` comes from ChooseForRollback.
std::string DescribeRollback(const Histories& histories, const ChosenGeneration& chosen);

// How the nodes of `earlier` are reached becomes what `present` says, under the names that it says
// they have now: a manifest that nodes remember decides over neither addresses nor logins. An error
// names the nodes that `present` does not have, or says that `earlier` is another cluster's.
Result<void> UseAccessOf(const ClusterSpec& present, ClusterSpec& earlier);

// What `present` says was renamed since `earlier` is renamed the other way in `earlier`, so that it
// owns what was applied under the names of now. `earlier` is a manifest that nodes remember.
void ReverseMoves(const ClusterSpec& present, ClusterSpec& earlier);

// Generations that a node keeps, besides the last one with another manifest.
constexpr int kMostGenerations = 50;

// Writes the document of one generation where it is missing, with it the ledger unless `ledger` is
// empty, and removes what is too old.
std::string BuildKeepGenerationsScript(int number, const std::string& document,
                                       const std::string& ledger = {});

// Replaces the document of one generation on a node that has it, by temporary file and rename.
std::string BuildRecordVerificationScript(int number, const std::string& document);

// Writes the ledger of a node that an apply did not change.
std::string BuildWriteLedgerScript(const std::string& ledger, const std::string& owned);

// Takes away all that we keep on a node.
std::string BuildRemoveStateScript();

// Runs one script per node, at the same time; an empty one is not run. Errors name `what`.
Errors RunOnNodes(const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                  const std::string& what,
                  const std::function<std::string(const NodeName&)>& script);

}  // namespace reconciler
