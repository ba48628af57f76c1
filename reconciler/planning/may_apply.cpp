#include "reconciler/planning/may_apply.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/planning/ledger.h"

namespace reconciler {
namespace {

void DiagnoseLedger(const ClusterSpec& cluster, const NodeName& name, const NodeFacts& node,
                    std::vector<Diagnostic>& found) {
  if (const auto* unknown = std::get_if<Unknown>(&node.ledger)) {
    found.push_back(
        {.severity = Severity::kBlocks,
         .code = "plan-ledger-unreadable",
         .message = fmt::format("{}: {}", kLedgerFile, MakePrintable(unknown->why)),
         .next_step =
             IsOfOtherVersion(*unknown)
                 ? "use the version of spark-reconcile that wrote it, or a later one"
                 : "it holds the originals: repair it, or move it away to start without them",
         .subject = std::string(kLedgerFile),
         .nodes = {name}});
  }
  const Ledger* ledger = Known(node.ledger);
  if (ledger == nullptr || cluster.Owns(ledger->cluster)) return;
  const std::string other = MakePrintable(ledger->cluster);
  found.push_back({.severity = Severity::kBlocks,
                   .code = "plan-other-cluster",
                   .message = fmt::format("this node belongs to cluster '{}', wanted '{}'", other,
                                          cluster.name),
                   .next_step = "uninstall it there first; if the cluster was renamed, write "
                                "`moved: {cluster: " +
                                other + "}`",
                   .subject = std::string(kLedgerFile),
                   .nodes = {name}});
}

// By machine and boot: machines that were cloned may share the first, containers of one machine
// share the second.
void DiagnoseSharedMachines(const ClusterSpec& cluster, const ClusterFacts& facts,
                            std::vector<Diagnostic>& found) {
  std::map<std::pair<std::string, std::string>, const NodeSpec*> seen;
  for (const NodeSpec& node : cluster.nodes) {
    const auto read = facts.nodes.find(node.name);
    const HostFact* host = read == facts.nodes.end() ? nullptr : Known(read->second.host);
    if (host == nullptr || host->machine_id.empty() || host->boot_id.empty()) continue;
    const auto [first, fresh] = seen.emplace(std::pair(host->machine_id, host->boot_id), &node);
    if (fresh) continue;
    const NodeSpec& other = *first->second;
    found.push_back(
        {.severity = Severity::kBlocks,
         .code = "plan-same-machine",
         .message = fmt::format("wanted two machines, found one at {} and {} (machine id {}), "
                                "first named at {}",
                                other.address, node.address, MakePrintable(host->machine_id),
                                FormatManifestLine(cluster.Mark(other.position))),
         .next_step = "give each node the address of its own machine",
         .where = cluster.Mark(node.position),
         .subject = host->machine_id,
         .nodes = {other.name, node.name}});
  }
}

Error MakeForbiddenError(Diagnostic one) {
  return {.kind = ErrorKind::kApply,
          .message = std::move(one.message),
          .where = one.where.file.empty() ? std::nullopt : std::optional(one.where),
          .context = {Join(one.nodes, ", ")},
          .hint = std::move(one.next_step)};
}

Error MakeRemovedNodeError(const ClusterSpec& cluster, const LedgerNode& node) {
  return {
      .kind = ErrorKind::kApply,
      .message = fmt::format("{} ({}) was applied to and is no longer in {}",
                             MakePrintable(node.name), MakePrintable(node.address), cluster.file),
      .hint = fmt::format(
          "run `uninstall --node {0}` with the old manifest first, then give "
          "--allow-node-removal; if it was renamed, write `moved: {{nodes: {{{0}: NEW}}}}`",
          MakePrintable(node.name))};
}

}  // namespace

std::vector<Diagnostic> DiagnoseForbidden(const ClusterSpec& cluster, const ClusterFacts& facts) {
  std::vector<Diagnostic> found;
  for (const auto& [name, node] : facts.nodes) DiagnoseLedger(cluster, name, node, found);
  DiagnoseSharedMachines(cluster, facts, found);
  return found;
}

Errors CheckMayApply(const ClusterSpec& cluster, const ClusterFacts& facts,
                     bool allow_node_removal) {
  Errors errors;
  for (Diagnostic& one : DiagnoseForbidden(cluster, facts)) {
    errors.push_back(MakeForbiddenError(std::move(one)));
  }
  if (allow_node_removal) return errors;
  for (const LedgerNode& node : FindRemovedNodes(cluster, facts)) {
    errors.push_back(MakeRemovedNodeError(cluster, node));
  }
  return errors;
}

std::string ExplainRefusal(const ClusterSpec& cluster, const ClusterFacts& facts,
                           const Plan& plan) {
  std::string text = FormatErrors(CheckMayApply(cluster, facts, /*allow_node_removal=*/false));
  if (!text.empty()) return text;
  for (const Diagnostic& one : plan.diagnostics) {
    if (one.severity == Severity::kBlocks && one.change.empty()) text += FormatDiagnostic(one);
  }
  return text;
}

}  // namespace reconciler
