#include "reconciler/planning/plugin_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reconciler/base/text.h"

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
      if (found == facts.nodes.end() || !IsSelected(scope.nodes, node.name)) continue;
      function(plugin, PluginInput{cluster, fabric, node, found->second, facts});
    }
  }
}

}  // namespace

std::vector<std::string> CollectPluginNotes(const ClusterSpec& cluster, const Fabric& fabric,
                                            const ClusterFacts& facts,
                                            const std::vector<Plugin>& plugins,
                                            const PlanScope& scope) {
  std::vector<std::pair<std::string, std::vector<NodeName>>> notes;
  ForEachInput(cluster, fabric, facts, plugins, scope,
               [&](const Plugin& plugin, const PluginInput& input) {
                 if (plugin.notes == nullptr) return;
                 for (const std::string& text : plugin.notes(input)) {
                   auto found = std::find_if(notes.begin(), notes.end(),
                                             [&](const auto& note) { return note.first == text; });
                   if (found == notes.end()) found = notes.insert(found, {text, {}});
                   found->second.push_back(input.node.name);
                 }
               });
  std::vector<std::string> lines;
  for (const auto& [text, nodes] : notes) {
    lines.push_back(fmt::format("{}: {}", Join(nodes, ", "), text));
  }
  return lines;
}

Errors CheckRuledOut(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
                     const std::vector<Plugin>& plugins, const PlanScope& scope) {
  Errors errors;
  ForEachInput(cluster, fabric, facts, plugins, scope,
               [&](const Plugin& plugin, const PluginInput& input) {
                 if (plugin.refuse == nullptr) return;
                 for (Error& error : plugin.refuse(input)) errors.push_back(std::move(error));
               });
  return errors;
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
