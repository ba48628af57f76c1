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

std::optional<UnreadNode> FindUnreadNode(const PluginInput& input, const Volume& volume) {
  if (!NeedsOneWriter(volume)) return std::nullopt;
  for (const NodeSpec& node : input.cluster.nodes) {
    if (node.name == input.node.name) continue;
    const auto facts = input.all.nodes.find(node.name);
    if (facts == input.all.nodes.end()) return UnreadNode{.node = node.name};
    // Where the probe failed, no mount of the node is known.
    const Observed<bool> read = Answer(facts->second.storage.nvme_cli);
    if (const auto* unknown = std::get_if<Unknown>(&read)) {
      return UnreadNode{.node = node.name, .why = unknown->why};
    }
  }
  return std::nullopt;
}

}  // namespace reconciler::plugins::storage
