#include "reconciler/engine/gather.h"

#include <mutex>

#include "reconciler/engine/frames.h"
#include "reconciler/engine/gather_script.h"

namespace reconciler {
namespace {

Result<NodeFacts> GatherNode(const ClusterSpec& cluster, const Fabric& fabric,
                             const std::vector<Plugin>& plugins, const NodeSpec& node,
                             NodePool& pool, const Trials& trials) {
  const auto own = trials.find(node.name);
  const std::vector<TrialFile> on_trial =
      own == trials.end() ? std::vector<TrialFile>() : own->second;
  std::vector<Read> reads = ReadsOf(on_trial);
  for (const Plugin& plugin : plugins) {
    if (plugin.probe == nullptr) continue;
    for (Read& read : plugin.probe(cluster, fabric, node)) reads.push_back(std::move(read));
  }
  const std::string nonce = MakeNonce();
  auto reply = pool.Run(node, GatherScript(reads, nonce),
                        std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return Fail(std::move(reply).error());
  auto raw = ParseGatherReply(*reply, reads, nonce);
  if (!raw) return Fail(InContext(std::move(raw).error(), node.name));

  ShowTrial(on_trial, *raw);

  NodeFacts facts;
  facts.node = node.name;
  facts.session_address = raw->session_address;
  facts.files = raw->files;
  for (const Plugin& plugin : plugins) {
    if (plugin.parse != nullptr) plugin.parse(*raw, facts);
  }
  return facts;
}

}  // namespace

ClusterFacts Gather(const ClusterSpec& cluster, const Fabric& fabric,
                    const std::vector<Plugin>& plugins, const std::vector<const NodeSpec*>& nodes,
                    NodePool& pool, const std::function<void(const NodeName&)>& on_node,
                    const Trials& trials) {
  ClusterFacts facts;
  std::mutex mutex;
  ForEachNode(nodes, [&](const NodeSpec& node) {
    auto gathered = GatherNode(cluster, fabric, plugins, node, pool, trials);
    {
      const std::lock_guard lock(mutex);
      if (gathered) {
        facts.nodes[node.name] = std::move(*gathered);
      } else {
        facts.unreachable[node.name] = std::move(gathered).error();
      }
    }
    if (on_node) on_node(node.name);
  });
  return facts;
}

}  // namespace reconciler
