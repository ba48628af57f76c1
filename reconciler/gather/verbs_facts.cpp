#include "reconciler/gather/verbs_facts.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/node/node_program.h"
#include "reconciler/spark_verify/protocol/facts.h"

namespace reconciler {
namespace {

using spark_verify::DeviceFacts;

constexpr Milliseconds kLimit = std::chrono::seconds(30);

// nullopt: spark-verify did not try.
Fact<bool> MakeDmabufFact(const DeviceFacts& device) {
  if (!device.dmabuf) return std::nullopt;
  const Result<bool>& answer = *device.dmabuf;
  if (!answer) return Unknown{"dma-buf of the HCA: " + MakePrintable(answer.error().message)};
  return *answer;
}

void StoreDevice(const DeviceFacts& device, NodeFacts& facts) {
  const auto hca = facts.hcas.find(device.hca);
  if (hca == facts.hcas.end()) return;
  hca->second.verbs = {.active_mtu = device.active_mtu, .dmabuf = MakeDmabufFact(device)};
}

// One HCA that takes dma-buf is enough to count on: the others are for other networks.
Observed<bool> FindHcaDmabuf(const std::vector<DeviceFacts>& devices) {
  Observed<bool> answer = Absent{};
  for (const DeviceFacts& device : devices) {
    const Fact<bool> one = MakeDmabufFact(device);
    const bool* known = Known(one);
    if (known != nullptr && *known) return true;
    if (known != nullptr || (one && std::holds_alternative<Absent>(answer))) answer = *one;
  }
  return answer;
}

void StoreGpu(const spark_verify::GpuFacts& gpu, NodeFacts& facts) {
  const auto store = [&](Fact<bool>& value, std::optional<bool> attribute) {
    if (!gpu.error.empty()) {
      value = Unknown{"CUDA: " + MakePrintable(gpu.error)};
    } else if (attribute) {
      value = *attribute;
    } else {
      value = Absent{};
    }
  };
  store(facts.gpudirect.cuda_rdma, gpu.gpu_direct_rdma);
  store(facts.gpudirect.cuda_dmabuf, gpu.dma_buf);
}

Observed<int> ReadVerbsFacts(const NodeSpec& node, NodePool& pool, const std::string& programs,
                             NodeFacts& facts) {
  const auto path = PushProgram(node, pool, programs);
  if (!path) return Unknown{path.error().message};
  const auto reply = pool.Run(node, QuoteForShell(*path) + " facts\n", kLimit);
  RemoveProgram(node, pool, *path);
  if (!reply) return Unknown{reply.error().message};
  if (reply->exit_code != 0) {
    return Unknown{fmt::format("spark-verify ended with status {}", reply->exit_code)};
  }
  StoreVerbsFacts(reply->out, facts);
  return Answer(facts.rdma.verbs);
}

}  // namespace

void StoreVerbsFacts(const std::string& line, NodeFacts& facts) {
  const auto reported = spark_verify::ParseFacts(line);
  if (!reported) {
    facts.rdma.verbs = Unknown{"spark-verify printed something other than its facts"};
    return;
  }
  for (const DeviceFacts& device : reported->devices) StoreDevice(device, facts);
  facts.gpudirect.hca_dmabuf = FindHcaDmabuf(reported->devices);
  if (reported->gpu) StoreGpu(*reported->gpu, facts);
  facts.rdma.verbs = reported->error.empty()
                         ? Observed<int>(static_cast<int>(reported->devices.size()))
                         : Unknown{MakePrintable(reported->error)};
}

void AddVerbsFacts(ClusterFacts& facts, const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                   const std::string& programs) {
  std::vector<const NodeSpec*> read;
  for (const NodeSpec* node : nodes) {
    if (facts.nodes.contains(node->name)) read.push_back(node);
  }
  NodeErrors thrown = ForEachNode(read, [&](const NodeSpec& node) {
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
    facts.nodes.at(name).rdma.verbs = Unknown{error.message};
  }
}

}  // namespace reconciler
