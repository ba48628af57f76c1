#include "reconciler/fabric/aliases.h"

namespace reconciler {

std::map<NodeName, std::vector<std::string>> ReadAliases(const ClusterSpec& cluster) {
  std::map<NodeName, std::vector<std::string>> aliases;
  const Value* nodes = cluster.settings.Find("nodes");
  if (nodes == nullptr) return aliases;
  for (const Value& node : nodes->List()) {
    const Value* list = node.Find("aliases");
    if (list == nullptr || list->List().empty()) continue;
    std::vector<std::string>& names = aliases[node.GetText("name")];
    for (const Value& name : list->List()) names.push_back(name.ScalarText());
  }
  return aliases;
}

}  // namespace reconciler
