#include "reconciler/planning/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reconciler/base/digest.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Names = std::set<std::string>;  // the cluster's, now and before

std::string RemoveBlocksOfAll(std::string content, const Names& ours) {
  for (const std::string& cluster : ours) content = RemoveBlocks(content, cluster);
  return content;
}

// What was there before us. A mark or a block of ours in it shows that we were there already.
Action FindOriginalFile(const Change& change, const Names& ours) {
  const Action* file = FindFileAction(change.actions);
  const Trial trial = file == nullptr ? Trial() : GetTrial(*file);
  if (!change.before || ours.contains(FindOwner(change.before->content).value_or(""))) {
    return RemoveFile{change.name, trial};
  }
  FileState state = *change.before;
  state.content = RemoveBlocksOfAll(std::move(state.content), ours);
  if (state.content != change.before->content) state.mtime.clear();
  return WriteFile{change.name, std::move(state), trial};
}

std::vector<RunCommand> ListCommands(const Change& change) {
  std::vector<RunCommand> commands;
  for (const Action& action : change.actions) {
    if (const auto* command = std::get_if<RunCommand>(&action)) commands.push_back(*command);
  }
  commands.insert(commands.end(), change.triggers.begin(), change.triggers.end());
  return commands;
}

LedgerEntry MakeEntry(const Change& change, const Names& ours) {
  LedgerEntry entry{.kind = change.kind,
                    .name = change.name,
                    .is_link = change.is_link,
                    .plugin = change.plugin,
                    .triggers = change.prune_commands.after,
                    .impact = change.impact};
  for (const RunCommand& command : change.prune_commands.before) entry.original.push_back(command);
  if (FindFileAction(change.actions) != nullptr)
    entry.original.push_back(FindOriginalFile(change, ours));
  return entry;
}

// See PruneCommands::adds. What came last is pruned first.
void AddOriginal(const PruneCommands& added, LedgerEntry& entry) {
  for (const RunCommand& command : added.before) {
    const Action action = command;
    const auto end = entry.original.end();
    if (std::find(entry.original.begin(), end, action) != end) continue;
    entry.original.insert(entry.original.begin(), action);
  }
  for (const RunCommand& command : added.after) {
    const auto end = entry.triggers.end();
    if (std::find(entry.triggers.begin(), end, command) == end) entry.triggers.push_back(command);
  }
}

// Others wrote into the file since we did: what they wrote is what stays when we go.
void KeepEdits(const Change& change, const Names& ours, LedgerEntry& entry) {
  if (!entry.shared || !change.before || ComputeSha256Hex(change.before->content) == entry.digest)
    return;
  for (Action& action : entry.original) {
    if (std::holds_alternative<RunCommand>(action)) continue;
    const std::string rest = RemoveBlocksOfAll(change.before->content, ours);
    if (rest.empty() && std::holds_alternative<RemoveFile>(action)) continue;
    FileState state = *change.before;
    if (const auto* write = std::get_if<WriteFile>(&action)) state = write->state;
    state.content = rest;
    state.mtime.clear();  // it is no text that was ever there
    action = WriteFile{change.name, std::move(state), GetTrial(action)};
  }
}

void UpdateEntry(const Change& change, const LedgerHead& head, const Names& ours,
                 std::vector<LedgerEntry>& entries) {
  const std::string id = change.kind + "/" + change.name;
  auto entry = std::find_if(entries.begin(), entries.end(),
                            [&](const LedgerEntry& one) { return one.Id() == id; });
  if (entry == entries.end()) {
    entries.push_back(MakeEntry(change, ours));
    entry = entries.end() - 1;
  } else if (change.prune_commands.adds) {
    AddOriginal(change.prune_commands, *entry);
  }
  // Someone made again what we had removed: what stood there last is what comes back.
  const Action* removal = FindFileAction(change.actions);
  const bool removed_again = removal != nullptr && change.before && entry->digest.empty() &&
                             std::holds_alternative<RemoveFile>(*removal);
  // The owner changed what was taken over, and the manifest names its new text: that comes back.
  const bool adopted_again = change.change == ChangeKind::kAdopt && change.before &&
                             ComputeSha256Hex(change.before->content) != entry->digest;
  if (removed_again || adopted_again) *entry = MakeEntry(change, ours);
  KeepEdits(change, ours, *entry);
  entry->plugin = change.plugin;
  entry->generation = head.generation;
  entry->again = ListCommands(change);
  entry->applied = change.desired;
  const Action* file = FindFileAction(change.actions);
  if (file == nullptr) return;
  if (const auto* write = std::get_if<WriteFile>(file)) {
    entry->digest = ComputeSha256Hex(write->state.content);
    entry->shared = RemoveBlocksOfAll(write->state.content, ours) != write->state.content;
    return;
  }
  entry->digest.clear();
  const Action* original = FindFileAction(entry->original);
  if (original != nullptr && std::holds_alternative<RemoveFile>(*original)) entries.erase(entry);
}

bool WasCarriedOut(const Change& change, const NodeName& node) {
  return change.node == node && change.change != ChangeKind::kBlocked && !change.deferred &&
         (!change.actions.empty() || !change.triggers.empty());
}

// Whether `change` is left as another manifest than this one has it.
bool IsLeftAsBefore(const Change& change, const Ledger& ledger) {
  if (change.change != ChangeKind::kBlocked) return false;
  switch (change.cause.kind) {
    case CauseKind::kManifestChanged:
    case CauseKind::kDriftedAndChanged:
      return true;
    case CauseKind::kUnknown:  // what was applied may be another text
      return ledger.Find(change.kind + "/" + change.name) != nullptr;
    case CauseKind::kFirstApply:
    case CauseKind::kNew:
    case CauseKind::kDesiredChanged:
    case CauseKind::kDrifted:
    case CauseKind::kNotRequired:
      return false;
  }
  return false;
}

// Whether `node` has all that the manifest requires once `plan` is applied. Not with --only, and
// not where a change is blocked that the manifest made necessary.
bool IsWhole(const Plan& plan, const NodeName& node, const Ledger& ledger) {
  if (!plan.only.empty()) return false;
  return std::none_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
    return std::any_of(stage.changes.begin(), stage.changes.end(), [&](const Change& change) {
      return change.node == node && IsLeftAsBefore(change, ledger);
    });
  });
}

bool WasNeverAppliedTo(const NodeFacts* node) {
  return Known(node->ledger) == nullptr && node->newest_generation == 0;
}

// Whether a rollback to `number`, the newest one, returns the node to what it was: the whole of
// that generation's manifest was applied to it, and it is another one, with the names that the
// ledger has.
bool HasGeneration(const NodeFacts& node, int number, const ClusterSpec& cluster) {
  const Ledger* ledger = Known(node.ledger);
  return ledger != nullptr && node.newest_generation == number && ledger->cluster == cluster.name &&
         (node.newest_digest.empty() || node.newest_digest == ledger->manifest_digest) &&
         ledger->manifest_digest != cluster.digest &&
         std::all_of(ledger->nodes.begin(), ledger->nodes.end(),
                     [&](const LedgerNode& one) { return cluster.FindNode(one.name) != nullptr; });
}

}  // namespace

bool HasState(const NodeFacts& facts) {
  return Known(FindFile(facts, std::string(kLockFile))) != nullptr;
}

Ledger UpdateLedger(const Ledger& old, const std::vector<Plan>& applied, const NodeName& node,
                    const LedgerHead& head) {
  Ledger ledger{.cluster = head.cluster,
                .generation = head.generation,
                .manifest_digest = applied.empty() ? head.manifest_digest : old.manifest_digest,
                .nodes = head.nodes,
                .entries = old.entries};
  Names ours = {head.cluster};
  for (const std::string& former : {old.cluster, head.former_cluster}) {
    if (!former.empty()) ours.insert(former);
  }
  const auto drop = [&](const std::string& id) {
    std::erase_if(ledger.entries, [&](const LedgerEntry& entry) { return entry.Id() == id; });
  };
  for (const Plan& plan : applied) {
    if (IsWhole(plan, node, ledger)) ledger.manifest_digest = head.manifest_digest;
    for (const PlanNode& one : plan.nodes) {
      if (one.name != node) continue;
      for (const std::string& id : one.dropped) drop(id);
    }
    for (const Stage& stage : plan.stages) {
      for (const Change& change : stage.changes) {
        if (!WasCarriedOut(change, node)) continue;
        if (change.prune) {
          drop(change.kind + "/" + change.name);
        } else {
          UpdateEntry(change, head, ours, ledger.entries);
        }
      }
      // Equal before does not mean equal without us: what a prune stops is gone.
      for (const Change& held : stage.held) {
        if (held.node != node || !IsSetBy(stage, held)) continue;
        if (ledger.Find(held.kind + "/" + held.name) != nullptr) continue;
        UpdateEntry(held, head, ours, ledger.entries);
      }
    }
  }
  return ledger;
}

int ComputeNextGeneration(const ClusterFacts& facts) {
  int newest = 0;
  for (const auto& [name, node] : facts.nodes) {
    newest = std::max(newest, node.newest_generation);
    if (const Ledger* ledger = Known(node.ledger)) newest = std::max(newest, ledger->generation);
  }
  return std::min(newest, kLargestGeneration - 1) + 1;
}

WayBack FindWayBack(const ClusterSpec& cluster, const ClusterFacts& before, bool all_plugins) {
  std::vector<const NodeFacts*> read;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = before.nodes.find(node.name);
    if (found != before.nodes.end()) read.push_back(&found->second);
  }
  if (read.empty()) return {};
  const bool whole = read.size() == cluster.nodes.size();
  if (std::all_of(read.begin(), read.end(), WasNeverAppliedTo)) {
    WayBack uninstall{.kind = WayBackKind::kUninstall};
    if (whole) return uninstall;
    for (const NodeFacts* node : read) uninstall.nodes.push_back(node->node);
    return uninstall;
  }
  const int number = ComputeNextGeneration(before) - 1;
  const bool rolls_back =
      whole && all_plugins && std::all_of(read.begin(), read.end(), [&](const NodeFacts* node) {
        return HasGeneration(*node, number, cluster);
      });
  return {.kind = rolls_back ? WayBackKind::kRollback : WayBackKind::kNone};
}

std::vector<LedgerNode> FindRemovedNodes(const ClusterSpec& cluster, const ClusterFacts& facts) {
  std::vector<LedgerNode> removed;
  const Value* moved = cluster.settings.At({"moved", "nodes"});
  for (const auto& [name, node] : facts.nodes) {
    const Ledger* ledger = Known(node.ledger);
    if (ledger == nullptr || !cluster.Owns(ledger->cluster)) continue;
    for (const LedgerNode& one : ledger->nodes) {
      const Value* now = moved == nullptr ? nullptr : moved->Find(one.name);
      const bool known = cluster.FindNode(one.name) != nullptr ||
                         (now != nullptr && cluster.FindNode(now->ScalarText()) != nullptr);
      const bool listed = std::any_of(removed.begin(), removed.end(), [&](const LedgerNode& other) {
        return other.name == one.name;
      });
      if (!known && !listed) removed.push_back(one);
    }
  }
  return removed;
}

}  // namespace reconciler
