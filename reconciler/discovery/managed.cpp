#include "reconciler/discovery/managed.h"

#include <fmt/format.h>

#include <utility>

namespace reconciler {
namespace {

// Over all nodes.
struct FoundOnNodes {
  bool ours = false;
  bool others = false;
  std::vector<std::string> gaps = {};  // none where nothing is ours: the manifest leaves it alone
};

FoundOnNodes FindOnNodes(std::string_view name, const ClusterSpec& hosts, const Fabric& fabric,
                         const ClusterFacts& facts, const std::vector<Plugin>& plugins) {
  FoundOnNodes found;
  for (const Plugin& plugin : plugins) {
    if (plugin.find_setting == nullptr) continue;
    for (const NodeSpec& node : hosts.nodes) {
      const auto own = facts.nodes.find(node.name);
      if (own == facts.nodes.end()) continue;
      const FoundSetting setting = plugin.find_setting({hosts, fabric, node, own->second, facts});
      if (setting.setting != name) continue;
      found.ours |= setting.ours;
      found.others |= setting.others;
      if (!setting.is_complete)
        found.gaps.push_back(fmt::format("{}: {}", node.name, setting.difference));
    }
  }
  if (!found.ours) found.gaps.clear();
  return found;
}

}  // namespace

FoundManaged FindManaged(const ClusterSpec& hosts, const Fabric& fabric, const ClusterFacts& facts,
                         const std::vector<Plugin>& plugins) {
  FoundOnNodes arp = FindOnNodes("fabric.arp", hosts, fabric, facts, plugins);
  const FoundOnNodes names = FindOnNodes("hosts.manage", hosts, fabric, facts, plugins);
  FoundManaged managed{.arp = arp.ours,
                       .names = names.ours,
                       .others_names = names.others,
                       .gaps = std::move(arp.gaps)};
  managed.gaps.insert(managed.gaps.end(), names.gaps.begin(), names.gaps.end());
  return managed;
}

}  // namespace reconciler
