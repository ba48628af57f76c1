#include "reconciler/gather/verbs_facts.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/gather/reply/verbs_reply.h"
#include "reconciler/node/node_program.h"

namespace reconciler {
namespace {

constexpr Milliseconds kLimit = std::chrono::seconds(30);

Unknown MakeUnknown(const Error& error) {
  return {error.hint.empty() ? error.message : fmt::format("{}: {}", error.message, error.hint)};
}

Observed<int> ReadVerbsFacts(const NodeSpec& node, NodePool& pool, const std::string& programs,
                             NodeFacts& facts) {
  const auto path = PushProgram(node, pool, programs);
  if (!path) return MakeUnknown(path.error());
  const auto reply = pool.Run(node, QuoteForShell(*path) + " facts\n", kLimit);
  RemoveProgram(node, pool, *path);
  if (!reply) return MakeUnknown(reply.error());
  if (reply->exit_code != 0) {
    return Unknown{fmt::format("spark-verify ended with status {}", reply->exit_code)};
  }
  StoreVerbsFacts(reply->out, facts);
  return Answer(facts.rdma.verbs);
}

}  // namespace

void AddVerbsFacts(ClusterFacts& facts, const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                   const std::string& programs) {
  std::vector<const NodeSpec*> read;
  for (const NodeSpec* node : nodes) {
    if (facts.nodes.contains(node->name)) read.push_back(node);
  }
  NodeErrors thrown = ForEachNode(read, pool.at_once(), [&](const NodeSpec& node) {
    NodeFacts& own = facts.nodes.at(node.name);
    // What was queried and not answered is unknown; what was not queried is absent.
    Observed<int> answer = ReadVerbsFacts(node, pool, programs, own);
    if (const auto* unknown = std::get_if<Unknown>(&answer)) {
      GpuFacts& gpu = own.gpudirect;
      for (Fact<bool>* fact : {&gpu.cuda_rdma, &gpu.cuda_dmabuf, &gpu.hca_dmabuf}) {
        if (!*fact) *fact = Unknown{"spark-verify: " + unknown->why};
      }
    }
    own.rdma.verbs = std::move(answer);
  });
  for (const auto& [name, error] : thrown) {
    facts.nodes.at(name).rdma.verbs = MakeUnknown(error);
  }
}

}  // namespace reconciler
