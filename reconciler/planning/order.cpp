#include "reconciler/planning/order.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <map>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

// Boost's not_a_dag names no member, so the members come from the strong components.
Error MakeCycleError(const Graph& graph, const std::vector<Plugin>& plugins) {
  std::vector<std::size_t> component(plugins.size());
  boost::strong_components(graph, boost::make_iterator_property_map(
                                      component.begin(), boost::get(boost::vertex_index, graph)));
  std::vector<std::string> members;
  for (std::size_t i = 0; i < plugins.size() && members.empty(); ++i) {
    const bool in_cycle = std::count(component.begin(), component.end(), component[i]) > 1 ||
                          boost::edge(i, i, graph).second;
    if (!in_cycle) continue;
    for (std::size_t k = 0; k < plugins.size(); ++k) {
      if (component[k] == component[i]) members.emplace_back(plugins[k].name);
    }
  }
  members.push_back(members.front());
  return {.kind = ErrorKind::kUsage,
          .message = "plugins wait for each other: " + Join(members, " → "),
          .hint = "take one of them out of another's `after`"};
}

bool IsAfterAllOthers(const Plugin& plugin) {
  return std::find(plugin.after.begin(), plugin.after.end(), kAllOthers) != plugin.after.end();
}

void AddAllOthers(const std::vector<Plugin>& plugins, std::size_t later, Graph& graph) {
  for (std::size_t earlier = 0; earlier < plugins.size(); ++earlier) {
    if (!IsAfterAllOthers(plugins[earlier])) boost::add_edge(earlier, later, graph);
  }
}

}  // namespace

Result<std::vector<std::vector<std::size_t>>> OrderPlugins(const std::vector<Plugin>& plugins) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < plugins.size(); ++i) index[plugins[i].name] = i;

  Graph graph(plugins.size());  // edge: from the earlier to the later plugin
  for (std::size_t i = 0; i < plugins.size(); ++i) {
    for (const std::string_view earlier : plugins[i].after) {
      if (earlier == kAllOthers) {
        AddAllOthers(plugins, i, graph);
        continue;
      }
      const auto found = index.find(earlier);
      if (found == index.end()) {
        return Fail({.kind = ErrorKind::kUsage,
                     .message = "plugin " + std::string(plugins[i].name) + " comes after '" +
                                std::string(earlier) + "', which is no plugin"});
      }
      boost::add_edge(found->second, i, graph);
    }
  }

  std::vector<std::size_t> reverse_order;
  try {
    boost::topological_sort(graph, std::back_inserter(reverse_order));
  } catch (const boost::not_a_dag&) {
    return Fail(MakeCycleError(graph, plugins));
  }

  std::vector<std::size_t> depth(plugins.size(), 0);
  for (auto it = reverse_order.rbegin(); it != reverse_order.rend(); ++it) {
    for (const auto edge : boost::make_iterator_range(boost::out_edges(*it, graph))) {
      const std::size_t later = boost::target(edge, graph);
      depth[later] = std::max(depth[later], depth[*it] + 1);
    }
  }
  std::vector<std::vector<std::size_t>> stages;
  for (std::size_t i = 0; i < plugins.size(); ++i) {
    if (stages.size() <= depth[i]) stages.resize(depth[i] + 1);
    stages[depth[i]].push_back(i);
  }
  return stages;
}

}  // namespace reconciler
