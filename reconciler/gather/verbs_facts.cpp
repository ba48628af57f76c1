#include "reconciler/gather/verbs_facts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/node/node_program.h"

namespace reconciler {
namespace {

using Json = nlohmann::json;

constexpr const char* kKey = "rdma.verbs";
constexpr const char* kRdmaAttribute = "gpudirect.cuda_rdma";
constexpr const char* kDmabufAttribute = "gpudirect.cuda_dmabuf";
constexpr const char* kNicDmabuf = "gpudirect.nic_dmabuf";
constexpr Milliseconds kLimit = std::chrono::seconds(30);

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void StoreDevice(const Json& device, NodeFacts& facts) {
  if (!device.is_object()) return;
  const auto hca = facts.hcas.find(Text(device, "hca"));
  if (hca == facts.hcas.end()) return;
  hca->second.verbs.dmabuf = Text(device, "dmabuf");
  const auto ports = device.find("ports");
  if (ports == device.end() || !ports->is_array() || ports->empty()) return;
  const auto mtu = ports->front().find("active_mtu");
  if (mtu != ports->front().end() && mtu->is_number_unsigned()) {
    hca->second.verbs.active_mtu = mtu->get<int>();
  }
}

// One adapter that takes dma-buf is enough to count on: the others are for other networks.
Observed<std::string> FindNicDmabuf(const Json& devices) {
  constexpr std::string_view kUnknown = "unknown: ";
  Observed<std::string> answer = Absent{};
  for (const Json& device : devices) {
    const std::string text = device.is_object() ? Text(device, "dmabuf") : "";
    if (text == "supported") return text;
    if (text == "unsupported") answer = text;
    if (text.starts_with(kUnknown) && std::holds_alternative<Absent>(answer)) {
      answer = Unknown{"dma-buf of the adapter: " + MakePrintable(text.substr(kUnknown.size()))};
    }
  }
  return answer;
}

Observed<std::string> Attribute(const Json& gpu, const char* key) {
  if (const std::string error = Text(gpu, "error"); !error.empty()) {
    return Unknown{"CUDA: " + MakePrintable(error)};
  }
  const auto found = gpu.find(key);
  if (found == gpu.end() || !found->is_number_integer()) return Absent{};
  return found->get<int>() == 0 ? "0" : "1";
}

void StoreGpu(const Json& json, NodeFacts& facts) {
  const auto gpu = json.find("gpu");
  if (gpu == json.end() || !gpu->is_object()) return;
  facts.values[kRdmaAttribute] = Attribute(*gpu, "gpu_direct_rdma");
  facts.values[kDmabufAttribute] = Attribute(*gpu, "dma_buf");
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
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const auto devices = json.is_object() ? json.find("devices") : json.end();
  if (devices == json.end() || !devices->is_array()) {
    facts.values[kKey] = Unknown{"spark-verify printed something other than its facts"};
    return;
  }
  for (const Json& device : *devices) StoreDevice(device, facts);
  facts.values[kNicDmabuf] = FindNicDmabuf(*devices);
  StoreGpu(json, facts);
  const std::string error = Text(json, "error");
  facts.values[kKey] = error.empty() ? Observed<std::string>(fmt::format("{}", devices->size()))
                                     : Unknown{MakePrintable(error)};
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
