#include "reconciler/spark_verify/counters.h"

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

Counters Growth(const Counters& before, const Counters& after) {
  Counters growth;
  for (const auto& [hca, counters] : after) {
    for (const auto& [name, value] : counters) {
      const auto device = before.find(hca);
      if (device == before.end()) continue;
      const auto old = device->second.find(name);
      if (old == device->second.end() || old->second == value) continue;
      constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
      growth[hca][name] = value > old->second ? value - old->second : value + kWrap - old->second;
    }
  }
  return growth;
}

}  // namespace reconciler::spark_verify
