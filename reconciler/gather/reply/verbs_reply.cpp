#include "reconciler/gather/reply/verbs_reply.h"

#include "reconciler/base/text.h"
#include "reconciler/spark_verify/protocol/facts.h"

namespace reconciler {
namespace {

using spark_verify::DeviceFacts;

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

}  // namespace reconciler
