#include "reconciler/cli/apply/ledger_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler::cli {
namespace {

bool Changes(const Plan& plan, const NodeName& node) {
  bool changes = false;
  ForEachChange(plan, [&](const Change& change) { changes |= change.node == node; });
  return changes;
}

}  // namespace

void LedgerKeeper::Begin(const Plan& plan, const ClusterFacts& facts) {
  facts_ = facts;
  generation_ = NextGeneration(facts);
  info_.plan = plan.id;
  info_.changes = plan.ChangeCount();
}

LedgerHead LedgerKeeper::Head(int generation) const {
  LedgerHead head{
      .cluster = cluster_.name, .generation = generation, .manifest_digest = cluster_.digest};
  for (const NodeSpec& node : cluster_.nodes) {
    head.nodes.push_back({node.name, node.id, node.address});
  }
  return head;
}

const Ledger* LedgerKeeper::OldLedger(const NodeName& node) const {
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

Documents LedgerKeeper::Texts(const NodeName& node, const std::vector<Plan>& passes) const {
  const Ledger* old = OldLedger(node);
  const Ledger ledger =
      UpdateLedger(old == nullptr ? Ledger() : *old, passes, node, Head(generation_));
  return {{fmt::format("generations/{}.json", generation_), GenerationText(info_)},
          {"ledger.json", LedgerText(ledger)},
          {"owned", OwnedListText(ledger)}};
}

std::vector<const NodeSpec*> LedgerKeeper::NodesToSettle(const Plan& plan,
                                                         const ClusterFacts& facts) const {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec* node : ReadNodes(facts)) {
    const Ledger* ledger = Known(facts.nodes.at(node->name).ledger);
    if (ledger == nullptr || Changes(plan, node->name)) continue;
    const auto entry = std::find_if(plan.nodes.begin(), plan.nodes.end(),
                                    [&](const PlanNode& one) { return one.name == node->name; });
    const bool forgets = entry != plan.nodes.end() && !entry->forget.empty();
    if (forgets || uninstall_ || ledger->nodes != Head(0).nodes) nodes.push_back(node);
  }
  return nodes;
}

Errors LedgerKeeper::Settle(const Plan& plan) {
  return RunOnNodes(NodesToSettle(plan, facts_), pool_, "the ledger could not be written",
                    [&](const NodeName& node) {
                      const Ledger& old = *OldLedger(node);
                      LedgerHead head = Head(old.generation);
                      if (!uninstall_) head.manifest_digest = old.manifest_digest;
                      const Ledger ledger = UpdateLedger(old, {plan}, node, head);
                      return WriteLedgerScript(LedgerText(ledger), OwnedListText(ledger));
                    });
}

// What we made and do not delete, for somebody may use it by now.
std::string LedgerKeeper::KeptOn(const NodeName& node) const {
  const Ledger* ledger = OldLedger(node);
  std::vector<std::string> names;
  if (ledger != nullptr) {
    for (const LedgerEntry& entry : ledger->entries) {
      if (entry.original.empty() && entry.triggers.empty()) names.push_back(Printable(entry.name));
    }
  }
  return names.empty() ? "" : " but " + Join(names, " and ");
}

int LedgerKeeper::Unledgered(const ClusterFacts& facts) const {
  bool any = false;
  for (const NodeSpec* node : ReadNodes(facts)) {
    const NodeFacts& read = facts.nodes.at(node->name);
    if (Known(read.ledger) != nullptr) continue;
    for (const auto& [path, observed] : read.files) {
      const FileState* file = Known(observed);
      const bool ours =
          file != nullptr && (IsOwnedFile(file->content, cluster_.name) ||
                              WithoutBlocks(file->content, cluster_.name) != file->content);
      if (!ours) continue;
      any = true;
      std::cout << fmt::format(
          "left on {}: file {}: ours by its mark, but the node has no ledger that says what was "
          "there before: take it away by hand\n",
          node->name, Printable(path));
    }
  }
  return any ? kPending : kFine;
}

int LedgerKeeper::Forget(const Plan& remaining) {
  std::set<NodeName> left;
  for (const Stage& stage : remaining.stages) {
    for (const Change& change : stage.changes) {
      left.insert(change.node);
      std::cout << fmt::format("left on {}: {} {}: {}\n", change.node, change.kind,
                               Printable(change.name), Printable(change.detail));
    }
  }
  std::vector<const NodeSpec*> done = ReadNodes(facts_);
  std::erase_if(done, [&](const NodeSpec* node) { return left.contains(node->name); });
  const Errors errors =
      RunOnNodes(done, pool_, fmt::format("{} could not be taken away", kStateFolder),
                 [](const NodeName&) { return ForgetScript(); });
  std::cerr << FormatErrors(errors);
  for (const NodeSpec* node : done) {
    const std::string kept = KeptOn(node->name);
    std::cout << fmt::format("{}: nothing of spark-reconcile is left{}, {} is gone\n", node->name,
                             kept, kStateFolder);
  }
  if (!errors.empty()) return kMixed;
  return left.empty() ? kFine : kPending;
}

Errors LedgerKeeper::Record(int verified, const std::vector<Plan>& passes) {
  info_.verification = verified == kFine           ? "passed"
                       : verified == kVerifyFailed ? "failed"
                                                   : "not measured";
  const std::string document = GenerationText(info_);
  return RunOnNodes(
      ReadNodes(facts_), pool_, "the verification could not be recorded",
      [&](const NodeName& node) {
        const bool committed = std::any_of(passes.begin(), passes.end(),
                                           [&](const Plan& pass) { return Changes(pass, node); });
        return committed ? RecordVerificationScript(generation_, document) : std::string();
      });
}

}  // namespace reconciler::cli
