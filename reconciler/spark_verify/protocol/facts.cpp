#include "reconciler/spark_verify/protocol/facts.h"

#include <nlohmann/json.hpp>

#include "reconciler/spark_verify/protocol/json_line.h"

namespace reconciler::spark_verify {
namespace {

using Json = nlohmann::ordered_json;

// As FindDmabuf of spark-verify writes it: "supported", "unsupported" or "unknown: REASON".
std::optional<Result<bool>> ReadDmabuf(const Json& device) {
  constexpr std::string_view kUnknown = "unknown: ";
  const auto found = device.find("dmabuf");
  if (found == device.end()) return std::nullopt;
  const std::string& text = found->get_ref<const std::string&>();
  if (text == "supported") return true;
  if (text == "unsupported") return false;
  return Fail({.kind = ErrorKind::kVerify,
               .message = text.starts_with(kUnknown) ? text.substr(kUnknown.size())
                                                     : "not understood: '" + text + "'"});
}

DeviceFacts ReadDevice(const Json& json) {
  DeviceFacts device{.hca = json.at("hca"),
                     .netdev = json.value("netdev", ""),
                     .limits = {.link_mbps = json.value("link_mbps", 0),
                                .pcie_width = json.value("pcie_width", 0),
                                .pcie_max_width = json.value("pcie_max_width", 0),
                                .pcie_gts = json.value("pcie_gts", 0.0)},
                     .dmabuf = ReadDmabuf(json)};
  if (const auto ports = json.find("ports"); ports != json.end() && !ports->empty()) {
    device.active_mtu = ports->at(0).value("active_mtu", 0);
  }
  return device;
}

std::optional<bool> ReadAttribute(const Json& gpu, const char* key) {
  const auto found = gpu.find(key);
  if (found == gpu.end()) return std::nullopt;
  return found->get<int>() != 0;
}

Facts ReadFacts(const Json& json) {
  Facts facts{.error = json.value("error", "")};
  for (const Json& device : json.at("devices").get_ref<const Json::array_t&>()) {
    facts.devices.push_back(ReadDevice(device));
  }
  if (const auto gpu = json.find("gpu"); gpu != json.end()) {
    facts.gpu = GpuFacts{.gpu_direct_rdma = ReadAttribute(*gpu, "gpu_direct_rdma"),
                         .dma_buf = ReadAttribute(*gpu, "dma_buf"),
                         .error = gpu->value("error", "")};
  }
  return facts;
}

}  // namespace

Result<Facts> ParseFacts(std::string_view line) {
  try {
    return ReadFacts(ParseLine(line));
  } catch (const std::exception& error) {
    return Fail({.kind = ErrorKind::kVerify, .message = error.what()});
  }
}

}  // namespace reconciler::spark_verify
