#include "plugins/storage/writers.h"

namespace reconciler::plugins::storage {

std::optional<Writer> FindOtherWriter(const PluginInput& input, const Volume& volume) {
  if (!NeedsOneWriter(volume)) return std::nullopt;
  for (const Volume& other : ReadVolumes(input.cluster)) {
    if (!MayBeOneFileSystem(volume, other)) continue;
    for (const auto& [name, facts] : input.all.nodes) {
      const auto found = facts.storage.writable.find(other.Device());
      if (name == input.node.name || found == facts.storage.writable.end()) continue;
      return Writer{.node = name, .path = found->second};
    }
  }
  return std::nullopt;
}

NodeName FindUnreadNode(const PluginInput& input, const Volume& volume) {
  if (!NeedsOneWriter(volume)) return {};
  for (const NodeSpec& node : input.cluster.nodes) {
    if (node.name != input.node.name && !input.all.nodes.contains(node.name)) return node.name;
  }
  return {};
}

}  // namespace reconciler::plugins::storage
