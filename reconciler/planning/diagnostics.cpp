#include "reconciler/planning/diagnostics.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "reconciler/base/name_pattern.h"

namespace reconciler {
namespace {

template <class Function>  // void(const Plugin&, const PluginInput&), in the manifest's order
void ForEachInput(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
                  const std::vector<Plugin>& plugins, const PlanScope& scope, Function function) {
  if (scope.uninstall) return;
  for (const Plugin& plugin : plugins) {
    if (!IsSelected(scope.only, plugin.name)) continue;
    for (const NodeSpec& node : cluster.nodes) {
      const auto found = facts.nodes.find(node.name);
      if (found == facts.nodes.end() || !IsNameSelected(scope.nodes, node.name)) continue;
      function(plugin, PluginInput{cluster, fabric, node, found->second, facts});
    }
  }
}

bool DifferInNodesOnly(Diagnostic& a, Diagnostic& b) {
  std::vector<NodeName> of_a = std::exchange(a.nodes, {});
  std::vector<NodeName> of_b = std::exchange(b.nodes, {});
  const bool same = a == b;
  a.nodes = std::move(of_a);
  b.nodes = std::move(of_b);
  return same;
}

// A list in which one is found by what it says: what each of many nodes has of its own, such as an
// offer to adopt a file, must not be compared with that of all others.
class Merged {
 public:
  // The one that differs from `one` in nothing but its nodes, of those that `may_merge` takes.
  template <class Predicate>
  Diagnostic* Find(Diagnostic& one, Predicate may_merge) {
    const auto found = by_message_.find(one.message);
    if (found == by_message_.end()) return nullptr;
    for (const std::size_t index : found->second) {
      if (may_merge(list_[index]) && DifferInNodesOnly(list_[index], one)) return &list_[index];
    }
    return nullptr;
  }

  void Add(Diagnostic one) {
    by_message_[one.message].push_back(list_.size());
    list_.push_back(std::move(one));
  }

  std::vector<Diagnostic> Take() && { return std::move(list_); }

 private:
  std::vector<Diagnostic> list_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_message_;
};

// To the one that says the same of other nodes, or as a new one.
void AddForNode(Diagnostic one, const NodeName& node, Merged& merged) {
  if (Diagnostic* other = merged.Find(one, [](const Diagnostic&) { return true; })) {
    if (other->nodes.back() != node) other->nodes.push_back(node);
    return;
  }
  one.nodes = {node};
  merged.Add(std::move(one));
}

// By node and subject.
std::set<std::pair<NodeName, std::string>> ListSettled(const Settles& settles, const Plan& plan) {
  std::set<std::pair<NodeName, std::string>> settled;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      const auto found = settles.find(change.Id());
      if (found == settles.end() || change.prune || change.change == ChangeKind::kBlocked) continue;
      for (const std::string& subject : found->second) settled.emplace(change.node, subject);
    }
  }
  return settled;
}

}  // namespace

std::vector<Diagnostic> CollectDiagnostics(const ClusterSpec& cluster, const Fabric& fabric,
                                           const ClusterFacts& facts,
                                           const std::vector<Plugin>& plugins,
                                           const PlanScope& scope, const AdoptOffers& offers) {
  Merged merged;
  ForEachInput(cluster, fabric, facts, plugins, scope,
               [&](const Plugin& plugin, PluginInput input) {
                 if (plugin.diagnose == nullptr) return;
                 input.offers = &offers;
                 for (Diagnostic& one : plugin.diagnose(input)) {
                   one.plugin = plugin.name;
                   AddForNode(std::move(one), input.node.name, merged);
                 }
               });
  return std::move(merged).Take();
}

std::vector<Diagnostic> RemoveSettled(std::vector<Diagnostic> diagnostics, const Settles& settles,
                                      const Plan& plan) {
  const auto settled = ListSettled(settles, plan);
  std::erase_if(diagnostics, [&](Diagnostic& one) {
    if (one.severity != Severity::kWarns) return false;
    const auto removed = std::erase_if(one.nodes, [&](const NodeName& node) {
      return settled.contains({node, one.subject});
    });
    return removed > 0 && one.nodes.empty();
  });
  return diagnostics;
}

std::vector<Diagnostic> DiagnoseBlocked(const Plan& plan) {
  std::vector<Diagnostic> diagnostics;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) continue;
      const std::string id = change.kind + "/" + change.name;
      diagnostics.push_back({.severity = Severity::kBlocks,
                             .code = change.code,
                             .message = change.detail,
                             .where = change.where,
                             .subject = id,
                             .plugin = change.plugin,
                             .change = id,
                             .nodes = {change.node}});
    }
  }
  return diagnostics;
}

void MergeEqual(std::vector<Diagnostic>& diagnostics) {
  Merged merged;
  for (Diagnostic& one : diagnostics) {
    const bool may_merge = one.change.empty() && !one.nodes.empty();
    Diagnostic* same =
        may_merge ? merged.Find(one, [](const Diagnostic& other) { return !other.nodes.empty(); })
                  : nullptr;
    if (same == nullptr) {
      merged.Add(std::move(one));
      continue;
    }
    for (std::string& node : one.nodes) {
      const bool is_listed =
          std::find(same->nodes.begin(), same->nodes.end(), node) != same->nodes.end();
      if (!is_listed) same->nodes.push_back(std::move(node));
    }
  }
  diagnostics = std::move(merged).Take();
}

bool WasApplied(const ClusterSpec& cluster, const ClusterFacts& facts, const PlanScope& scope) {
  return std::all_of(cluster.nodes.begin(), cluster.nodes.end(), [&](const NodeSpec& node) {
    if (!IsNameSelected(scope.nodes, node.name)) return true;
    const auto found = facts.nodes.find(node.name);
    const Ledger* ledger = found == facts.nodes.end() ? nullptr : Known(found->second.ledger);
    return ledger != nullptr && ledger->generation > 0 && ledger->manifest_digest == cluster.digest;
  });
}

void SortBySeverity(std::vector<Diagnostic>& diagnostics) {
  std::stable_sort(
      diagnostics.begin(), diagnostics.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return a.severity < b.severity; });
}

std::vector<const NodeSpec*> SelectNodesForSparkVerify(const ClusterSpec& cluster,
                                                       const ClusterFacts& facts,
                                                       const std::vector<Plugin>& plugins,
                                                       const PlanScope& scope) {
  std::vector<const NodeSpec*> nodes;
  ForEachInput(cluster, {}, facts, plugins, scope,
               [&](const Plugin& plugin, const PluginInput& input) {
                 if (plugin.needs_spark_verify == nullptr ||
                     !plugin.needs_spark_verify(cluster, input.facts))
                   return;
                 nodes.push_back(&input.node);
               });
  std::sort(nodes.begin(), nodes.end());  // they lie in the manifest's order
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace reconciler
