#include "reconciler/engine/plan_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"
#include "reconciler/engine/diff.h"
#include "reconciler/engine/order.h"
#include "reconciler/model/json.h"

namespace reconciler {
namespace {

bool Selected(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

Result<void> RequireKnown(const std::vector<std::string>& asked,
                          const std::vector<std::string>& known, std::string_view what) {
  for (const std::string& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto close = ClosestMatch(name, known);
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("unknown {} '{}'{}", what, name,
                                        close ? fmt::format(", did you mean '{}'?", *close) : ""),
                 .hint = fmt::format("known: {}", Join(known, ", "))});
  }
  return {};
}

// The plan's line names node and address already.
std::string WithoutPlace(const std::string& why, const NodeSpec& node) {
  for (const std::string& place :
       {fmt::format("{} ({}): ", node.name, node.address), node.name + ": "}) {
    if (why.starts_with(place)) return why.substr(place.size());
  }
  return why;
}

std::vector<PlanNode> PlanNodes(const ClusterSpec& cluster, const ClusterFacts& facts,
                                const PlanScope& scope) {
  std::vector<PlanNode> nodes;
  for (const NodeSpec& node : cluster.nodes) {
    if (!Selected(scope.nodes, node.name)) continue;
    PlanNode entry{.name = node.name, .address = node.address};
    if (const auto found = facts.nodes.find(node.name); found != facts.nodes.end()) {
      entry.session_interface = found->second.session_interface;
    } else if (const auto error = facts.unreachable.find(node.name);
               error != facts.unreachable.end()) {
      entry.unreachable = WithoutPlace(error->second.message, node);
    } else {
      entry.unreachable = "no facts";
    }
    nodes.push_back(std::move(entry));
  }
  return nodes;
}

}  // namespace

Result<void> CheckScope(const ClusterSpec& cluster, const std::vector<Plugin>& plugins,
                        const PlanScope& scope) {
  std::vector<std::string> nodes;
  for (const NodeSpec& node : cluster.nodes) nodes.push_back(node.name);
  if (auto known = RequireKnown(scope.nodes, nodes, "node"); !known) return known;
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins) names.emplace_back(plugin.name);
  return RequireKnown(scope.only, names, "plugin");
}

std::string PlanDigest(const Plan& plan) {
  // Change by change: the document of a large cluster is never in memory as a whole.
  std::string digests;
  for (const Stage& stage : plan.stages) {
    digests += "stage " + Join(stage.plugins, " ") + '\n';
    for (const Change& change : stage.changes) digests += Sha256Hex(ToJson(change).dump()) + '\n';
  }
  Plan rest{.cluster = plan.cluster,
            .summary = plan.summary,
            .manifest = plan.manifest,
            .spec_digest = plan.spec_digest,
            .only = plan.only,
            .nodes = plan.nodes,
            .notes = plan.notes};
  return Sha256Hex(Dump(ToJson(rest)) + digests);
}

Result<Plan> MakePlan(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
                      const std::vector<Plugin>& plugins, const PlanScope& scope) {
  if (auto known = CheckScope(cluster, plugins, scope); !known) return Fail(known.error());
  const auto stages = PluginStages(plugins);
  if (!stages) return Fail(stages.error());

  Plan plan;
  plan.cluster = cluster.name;
  plan.summary = fmt::format("{} · {} · mtu {}", Plural(cluster.nodes.size(), "node", "nodes"),
                             fabric.summary, cluster.fabric.mtu);
  plan.notes = fabric.notes;
  plan.manifest = cluster.file;
  plan.spec_digest = cluster.digest;
  plan.only = scope.only;
  plan.nodes = PlanNodes(cluster, facts, scope);
  for (const std::vector<std::size_t>& members : *stages) {
    Stage stage;
    for (const std::size_t index : members) {
      if (Selected(scope.only, plugins[index].name))
        stage.plugins.emplace_back(plugins[index].name);
    }
    for (const NodeSpec& node : cluster.nodes) {
      const auto found = facts.nodes.find(node.name);
      if (found == facts.nodes.end() || !Selected(scope.nodes, node.name)) continue;
      const PluginInput input{cluster, fabric, node, found->second, facts};
      for (const std::size_t index : members) {
        const Plugin& plugin = plugins[index];
        if (plugin.resources == nullptr || !Selected(scope.only, plugin.name)) continue;
        for (const Resource& resource : plugin.resources(input)) {
          if (auto change = Diff(resource, plugin.name))
            stage.changes.push_back(std::move(*change));
        }
      }
    }
    if (!stage.changes.empty()) plan.stages.push_back(std::move(stage));
  }
  plan.id = PlanDigest(plan);
  return plan;
}

}  // namespace reconciler
