#include "reconciler/apply/ledger_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/model/find.h"
#include "reconciler/planning/plan_compare.h"
#include "reconciler/planning/prune.h"

namespace reconciler {
namespace {

bool HasMark(const std::string& content, const std::string& cluster) {
  return IsOwnedFile(content, cluster) || RemoveBlocks(content, cluster) != content;
}

// Under the name that the cluster has, or had before.
bool HasOurMark(const std::string& content, const ClusterSpec& cluster) {
  return HasMark(content, cluster.name) ||
         (!cluster.former_name.empty() && HasMark(content, cluster.former_name));
}

// The longest text that the ledger has of a file as it was before us; nullptr: it has none.
const WriteFile* FindLongestOriginal(const Ledger& ledger) {
  const WriteFile* longest = nullptr;
  for (const LedgerEntry& entry : ledger.entries) {
    const Action* file = FindFileAction(entry.original);
    const auto* write = file == nullptr ? nullptr : std::get_if<WriteFile>(file);
    if (write == nullptr) continue;
    if (longest == nullptr || write->state.content.size() > longest->state.content.size()) {
      longest = write;
    }
  }
  return longest;
}

Error MakeTooLargeError(const NodeName& node, const Ledger& ledger, std::size_t size) {
  Error error{.kind = ErrorKind::kApply,
              .message = fmt::format("wanted a ledger of at most {} MiB, found one of {} bytes",
                                     kLargestLedger >> 20, size),
              .context = {node},
              .hint = "manage less on this node"};
  if (const WriteFile* longest = FindLongestOriginal(ledger)) {
    error.message += fmt::format("; the longest former text in it is that of {} ({} bytes)",
                                 MakePrintable(longest->path), longest->state.content.size());
    error.hint = "leave that file out of the manifest, or make it smaller before it is managed";
  }
  return error;
}

}  // namespace

void LedgerKeeper::Begin(const Plan& plan, const ClusterFacts& facts) {
  facts_ = facts;
  generation_ = ComputeNextGeneration(facts);
  info_.plan = plan.id;
  info_.changes = plan.ChangeCount();
  all_plugins_ = plan.only.empty();
}

LedgerHead LedgerKeeper::MakeLedgerHead(int generation) const {
  LedgerHead head{.cluster = cluster_.name,
                  .generation = generation,
                  .manifest_digest = cluster_.digest,
                  .former_cluster = cluster_.former_name};
  for (const NodeSpec& node : cluster_.nodes) {
    head.nodes.push_back({node.name, node.id, node.address});
  }
  return head;
}

const Ledger* LedgerKeeper::FindOldLedger(const NodeName& node) const {
  const auto facts = facts_.nodes.find(node);
  return facts == facts_.nodes.end() ? nullptr : Known(facts->second.ledger);
}

std::vector<const NodeSpec*> LedgerKeeper::ReadNodes(const ClusterFacts& facts) const {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    if (facts.nodes.contains(node.name)) nodes.push_back(&node);
  }
  return nodes;
}

Errors LedgerKeeper::FindTooLarge(const Plan& plan, const ClusterFacts& facts) const {
  Errors errors;
  if (uninstall_) return errors;  // the ledgers lose entries and get none
  const LedgerHead head = MakeLedgerHead(ComputeNextGeneration(facts));
  const std::vector<Plan> passes = {plan};
  for (const NodeSpec* node : ReadNodes(facts)) {
    if (!HasChanges(plan, node->name)) continue;
    const Ledger* old = Known(facts.nodes.at(node->name).ledger);
    const Ledger ledger = UpdateLedger(old == nullptr ? Ledger() : *old, passes, node->name, head);
    const std::size_t size = FormatLedger(ledger).size();
    if (size > kLargestLedger) errors.push_back(MakeTooLargeError(node->name, ledger, size));
  }
  return errors;
}

Documents LedgerKeeper::MakeDocuments(const NodeName& node, const std::vector<Plan>& passes) const {
  const Ledger* found = FindOldLedger(node);
  const Ledger old = found == nullptr ? Ledger() : *found;
  const Ledger ledger = UpdateLedger(old, passes, node, MakeLedgerHead(generation_));
  return {{fmt::format("generations/{}.json", generation_), FormatGeneration(info_)},
          {"ledger.json", FormatLedger(ledger)},
          {"owned", FormatOwnedList(ledger)}};
}

bool LedgerKeeper::NeedsLedger(const Plan& plan, const NodeName& node,
                               const NodeFacts& facts) const {
  const Ledger* ledger = Known(facts.ledger);
  if (ledger == nullptr || HasChanges(plan, node)) return false;
  const PlanNode* entry = FindNode(plan, node);
  const bool drops = entry != nullptr && !entry->dropped.empty();
  return drops || uninstall_ || ledger->nodes != MakeLedgerHead(0).nodes;
}

std::vector<const NodeSpec*> LedgerKeeper::ListNodesToSettle(const Plan& plan,
                                                             const ClusterFacts& facts) const {
  std::vector<const NodeSpec*> nodes = ReadNodes(facts);
  std::erase_if(nodes, [&](const NodeSpec* node) {
    const NodeFacts& read = facts.nodes.at(node->name);
    const bool has_journals = uninstall_ && HasState(read) && ListUnledgered(read).empty() &&
                              !HasChanges(plan, node->name);
    return !has_journals && !NeedsLedger(plan, node->name, read);
  });
  return nodes;
}

Errors LedgerKeeper::Settle(const Plan& plan) {
  std::vector<const NodeSpec*> nodes = ReadNodes(facts_);
  std::erase_if(nodes, [&](const NodeSpec* node) {
    return !NeedsLedger(plan, node->name, facts_.nodes.at(node->name));
  });
  return RunOnNodes(nodes, pool_, "the ledger could not be written", [&](const NodeName& node) {
    const Ledger& old = *FindOldLedger(node);
    LedgerHead head = MakeLedgerHead(old.generation);
    if (!uninstall_) head.manifest_digest = old.manifest_digest;
    const Ledger ledger = UpdateLedger(old, {plan}, node, head);
    return BuildWriteLedgerScript(FormatLedger(ledger), FormatOwnedList(ledger));
  });
}

// With the manifest's digest, of a node that `passes` leave as it is and that has all of the
// manifest; empty: the ledger stays. Its generation does, so that a saved plan for the node fits.
std::string LedgerKeeper::FormatUnchangedLedger(const std::vector<Plan>& passes,
                                                const NodeName& node) const {
  const Ledger* old = FindOldLedger(node);
  const bool is_changed = std::any_of(passes.begin(), passes.end(),
                                      [&](const Plan& pass) { return HasChanges(pass, node); });
  if (old == nullptr || is_changed) return {};
  const Ledger ledger = UpdateLedger(*old, passes, node, MakeLedgerHead(old->generation));
  return ledger.manifest_digest == old->manifest_digest ? "" : FormatLedger(ledger);
}

Errors LedgerKeeper::RecordGeneration(const std::vector<Plan>& passes, bool whole) {
  const std::string document = FormatGeneration(info_);
  return RunOnNodes(
      ReadNodes(facts_), pool_, "the generation could not be recorded", [&](const NodeName& node) {
        return BuildKeepGenerationsScript(
            generation_, document, whole ? FormatUnchangedLedger(passes, node) : std::string());
      });
}

std::vector<std::string> LedgerKeeper::ListUnledgered(const NodeFacts& facts) const {
  std::vector<std::string> paths;
  if (Known(facts.ledger) != nullptr) return paths;
  for (const auto& [path, observed] : facts.files) {
    const FileState* file = Known(observed);
    if (file != nullptr && HasOurMark(file->content, cluster_)) paths.push_back(path);
  }
  return paths;
}

std::vector<UnledgeredFile> LedgerKeeper::FindUnledgered(const ClusterFacts& facts) const {
  std::vector<UnledgeredFile> found;
  for (const NodeSpec* node : ReadNodes(facts)) {
    for (std::string& path : ListUnledgered(facts.nodes.at(node->name))) {
      found.push_back({node->name, std::move(path)});
    }
  }
  return found;
}

UninstallResult LedgerKeeper::FinishUninstall(const Plan& remaining) {
  UninstallResult result;
  std::set<NodeName> left;
  for (const Stage& stage : remaining.stages) {
    for (const Change& change : stage.changes) {
      left.insert(change.node);
      result.left.push_back(change);
    }
  }
  std::vector<const NodeSpec*> done = ReadNodes(facts_);
  std::erase_if(done, [&](const NodeSpec* node) {  // journals may hold the only originals
    return left.contains(node->name) || !ListUnledgered(facts_.nodes.at(node->name)).empty();
  });
  result.errors = RunOnNodes(done, pool_, fmt::format("{} could not be removed", kStateFolder),
                             [](const NodeName&) { return BuildRemoveStateScript(); });
  for (const NodeSpec* node : done) {
    result.emptied.push_back({node->name, FindKeptNames(cluster_, facts_.nodes.at(node->name))});
  }
  return result;
}

Errors LedgerKeeper::RecordVerification(VerificationOutcome outcome) {
  info_.verification = ToString(outcome);
  const std::string script = BuildRecordVerificationScript(generation_, FormatGeneration(info_));
  return RunOnNodes(ReadNodes(facts_), pool_, "the verification could not be recorded",
                    [&](const NodeName&) { return script; });
}

}  // namespace reconciler
