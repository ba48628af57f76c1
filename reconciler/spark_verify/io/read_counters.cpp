#include "reconciler/spark_verify/io/read_counters.h"

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
