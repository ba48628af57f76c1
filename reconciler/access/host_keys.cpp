#include "reconciler/access/host_keys.h"

#include <mutex>
#include <string>

#include "reconciler/node/node_pool.h"

namespace reconciler {

HostKeyReport ReadHostKeys(const std::vector<const NodeSpec*>& nodes, std::size_t at_once,
                           const ReadKey& read_key) {
  HostKeyReport report;
  NodeErrors errors;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, at_once, [&](const NodeSpec& node) {
    auto key = read_key(node);
    const std::lock_guard lock(mutex);
    if (key) {
      report.keys[node.name] = std::move(*key);
    } else {
      errors[node.name] = std::move(key).error();
    }
  });
  errors.merge(thrown);
  AppendErrors(std::move(errors), report.errors);
  return report;
}

std::vector<std::vector<NodeName>> FindSharedKeys(const std::map<NodeName, HostKey>& keys) {
  std::map<std::string, std::vector<NodeName>> nodes;
  for (const auto& [node, key] : keys) nodes[key.fingerprint].push_back(node);
  std::vector<std::vector<NodeName>> shared;
  for (auto& [fingerprint, names] : nodes) {
    if (names.size() > 1) shared.push_back(std::move(names));
  }
  return shared;
}

}  // namespace reconciler
