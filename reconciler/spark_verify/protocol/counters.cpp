#include "reconciler/spark_verify/protocol/counters.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace reconciler::spark_verify {

namespace fs = std::filesystem;

Counters ReadCounters(const std::string& root) {
  Counters counters;
  std::error_code error;
  for (const auto& device : fs::directory_iterator(root + "/sys/class/infiniband", error)) {
    auto& own = counters[device.path().filename()];
    for (const char* kind : {"hw_counters", "counters"}) {
      std::error_code missing;
      for (const auto& file : fs::directory_iterator(device.path() / "ports/1" / kind, missing)) {
        const std::string name = file.path().filename();
        std::uint64_t value = 0;
        // lifespan is how long the kernel keeps the others, in ms.
        if (name != "lifespan" && std::ifstream(file.path()) >> value) own[name] = value;
      }
    }
  }
  return counters;
}

namespace {

// Of these standing still says something: the port carried nothing, which is not "cannot be read".
bool CountsData(const std::string& name) {
  return name == "port_xmit_data" || name == "port_rcv_data" || name == "sent_pkts" ||
         name == "rcvd_pkts";
}

// mlx5's counters of packets have 32 bits; one of more that fell was reset.
std::uint64_t ComputeGrowth(std::uint64_t before, std::uint64_t after) {
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
  if (after >= before) return after - before;
  return before < kWrap ? after + kWrap - before : after;
}

}  // namespace

Counters ComputeGrowth(const Counters& before, const Counters& after) {
  Counters growth;
  for (const auto& [hca, counters] : after) {
    for (const auto& [name, value] : counters) {
      const auto device = before.find(hca);
      if (device == before.end()) continue;
      const auto old = device->second.find(name);
      if (old == device->second.end()) continue;
      if (old->second == value && !CountsData(name)) continue;
      growth[hca][name] = ComputeGrowth(old->second, value);
    }
  }
  return growth;
}

Limits ReadLimits(const std::string& root, const std::string& hca) {
  const fs::path at = root + "/sys/class/infiniband/" + hca;
  Limits limits;
  limits.hardware = fs::exists(at / "device");
  std::string netdev;
  std::ifstream(at / "ports/1/gid_attrs/ndevs/0") >> netdev;
  std::ifstream(root + "/sys/class/net/" + netdev + "/speed") >> limits.link_mbps;
  std::ifstream(at / "device/current_link_width") >> limits.pcie_width;
  std::ifstream(at / "device/max_link_width") >> limits.pcie_max_width;
  std::ifstream(at / "device/current_link_speed") >> limits.pcie_gts;  // "32.0 GT/s PCIe"
  limits.link_mbps = std::max(limits.link_mbps, 0);                    // -1: no carrier, or virtual
  return limits;
}

}  // namespace reconciler::spark_verify
