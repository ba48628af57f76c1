#include "reconciler/gather/verbs_facts.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/node/node_program.h"
#include "reconciler/spark_verify/protocol/facts.h"

namespace reconciler {
namespace {

using spark_verify::DeviceFacts;

constexpr const char* kKey = "rdma.verbs";
constexpr const char* kRdmaAttribute = "gpudirect.cuda_rdma";
constexpr const char* kDmabufAttribute = "gpudirect.cuda_dmabuf";
constexpr const char* kNicDmabuf = "gpudirect.nic_dmabuf";
constexpr Milliseconds kLimit = std::chrono::seconds(30);

void StoreDevice(const DeviceFacts& device, NodeFacts& facts) {
  const auto hca = facts.hcas.find(device.hca);
  if (hca == facts.hcas.end()) return;
  hca->second.verbs = {.active_mtu = device.active_mtu, .dmabuf = device.dmabuf};
}

// One adapter that takes dma-buf is enough to count on: the others are for other networks.
Observed<std::string> FindNicDmabuf(const std::vector<DeviceFacts>& devices) {
  constexpr std::string_view kUnknown = "unknown: ";
  Observed<std::string> answer = Absent{};
  for (const DeviceFacts& device : devices) {
    const std::string_view text = device.dmabuf;
    if (text == "supported") return device.dmabuf;
    if (text == "unsupported") answer = device.dmabuf;
    if (text.starts_with(kUnknown) && std::holds_alternative<Absent>(answer)) {
      answer = Unknown{"dma-buf of the adapter: " + MakePrintable(text.substr(kUnknown.size()))};
    }
  }
  return answer;
}

void StoreGpu(const spark_verify::GpuFacts& gpu, NodeFacts& facts) {
  const auto store = [&](const char* key, std::optional<bool> attribute) {
    Observed<std::string>& value = facts.values[key];
    if (!gpu.error.empty()) {
      value = Unknown{"CUDA: " + MakePrintable(gpu.error)};
    } else if (attribute) {
      value = std::string(*attribute ? "1" : "0");
    } else {
      value = Absent{};
    }
  };
  store(kRdmaAttribute, gpu.gpu_direct_rdma);
  store(kDmabufAttribute, gpu.dma_buf);
}

Observed<std::string> ReadVerbsFacts(const NodeSpec& node, NodePool& pool,
                                     const std::string& programs, NodeFacts& facts) {
  const auto path = PushProgram(node, pool, programs);
  if (!path) return Unknown{path.error().message};
  const auto reply = pool.Run(node, QuoteForShell(*path) + " facts\n", kLimit);
  RemoveProgram(node, pool, *path);
  if (!reply) return Unknown{reply.error().message};
  if (reply->exit_code != 0) {
    return Unknown{fmt::format("spark-verify ended with status {}", reply->exit_code)};
  }
  StoreVerbsFacts(reply->out, facts);
  return FindValue(facts, kKey);
}

}  // namespace

void StoreVerbsFacts(const std::string& line, NodeFacts& facts) {
  const auto reported = spark_verify::ParseFacts(line);
  if (!reported) {
    facts.values[kKey] = Unknown{"spark-verify printed something other than its facts"};
    return;
  }
  for (const DeviceFacts& device : reported->devices) StoreDevice(device, facts);
  facts.values[kNicDmabuf] = FindNicDmabuf(reported->devices);
  if (reported->gpu) StoreGpu(*reported->gpu, facts);
  facts.values[kKey] = reported->error.empty()
                           ? Observed<std::string>(fmt::format("{}", reported->devices.size()))
                           : Unknown{MakePrintable(reported->error)};
}

void AddVerbsFacts(ClusterFacts& facts, const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                   const std::string& programs) {
  std::vector<const NodeSpec*> read;
  for (const NodeSpec* node : nodes) {
    if (facts.nodes.contains(node->name)) read.push_back(node);
  }
  ForEachNode(read, [&](const NodeSpec& node) {
    NodeFacts& own = facts.nodes.at(node.name);
    // What was asked and not answered is unknown, and not what nobody asked.
    Observed<std::string> answer = ReadVerbsFacts(node, pool, programs, own);
    if (const auto* unknown = std::get_if<Unknown>(&answer)) {
      for (const char* key : {kRdmaAttribute, kDmabufAttribute, kNicDmabuf}) {
        own.values.emplace(key, Unknown{"spark-verify: " + unknown->why});
      }
    }
    own.values[kKey] = std::move(answer);
  });
}

}  // namespace reconciler
