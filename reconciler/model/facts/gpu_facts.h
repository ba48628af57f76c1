#pragma once

#include <array>
#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

struct NvidiaDriver {
  bool open = false;
  std::string version;
  bool operator==(const NvidiaDriver&) const = default;
};

template <std::same_as<NvidiaDriver> T>
constexpr auto Describe(const T*) {
  return MakeDescription("nvidia_driver", "The NVIDIA driver that is loaded.",
                         Field{"open", &T::open, "Whether it is the open one."},
                         Field{"version", &T::version, "Its version, such as 580.142."});
}

enum class ModuleState { kLoaded, kBuiltIn, kAvailable };
constexpr std::array<std::string_view, 3> ListEnumNames(const ModuleState*) {
  return {"loaded", "built in", "available"};
}

struct ModuleEntry {
  std::string path;
  int line = 0;
  std::string module;
  bool operator==(const ModuleEntry&) const = default;
};

template <std::same_as<ModuleEntry> T>
constexpr auto Describe(const T*) {
  return MakeDescription("module_entry", "A line of modules-load.d.",
                         Field{"path", &T::path, "The file."},
                         Field{"line", &T::line, "Counted from 1."},
                         Field{"module", &T::module, "The module, as it is written there."});
}

struct GpuFacts {
  Fact<NvidiaDriver> driver;
  Fact<std::string> gpu;
  Fact<bool> symbol;
  Fact<bool> dmabuf;
  Fact<bool> p2pdma;
  std::map<std::string, Observed<ModuleState>> modules;
  Fact<bool> cuda_rdma;
  Fact<bool> cuda_dmabuf;
  Fact<bool> hca_dmabuf;
  Fact<std::string> loader;
  Fact<std::vector<ModuleEntry>> entries;
  bool operator==(const GpuFacts&) const = default;
};

template <std::same_as<GpuFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "gpudirect", "What decides whether HCAs can read the GPU's memory.",
      Field{"driver", &T::driver, "absent: no NVIDIA driver is loaded."},
      Field{"gpu", &T::gpu, "The GPU's model, such as NVIDIA GB10; absent: none."},
      Field{"symbol", &T::symbol, "Whether the kernel has ib_register_peer_memory_client."},
      Field{"dmabuf", &T::dmabuf, "Whether the kernel has CONFIG_DMA_SHARED_BUFFER."},
      Field{"p2pdma", &T::p2pdma, "Whether the kernel has CONFIG_PCI_P2PDMA."},
      Field{"modules", &T::modules, "By name; absent: this kernel has none of that name.",
            FieldRule::kLeftOut},
      Field{"cuda_rdma", &T::cuda_rdma,
            "CUDA's attribute 116, which only spark-verify can read; absent: no GPU to query."},
      Field{"cuda_dmabuf", &T::cuda_dmabuf,
            "CUDA's attribute 124, which only spark-verify can read; absent: no GPU to query."},
      Field{"hca_dmabuf", &T::hca_dmabuf,
            "Whether an HCA takes dma-buf memory, which only spark-verify can read; absent: no HCA "
            "to query."},
      Field{"loader", &T::loader, "ActiveState of systemd-modules-load.service."},
      Field{"entries", &T::entries,
            "Where it failed: the lines whose module the kernel has and did not load."});
}

}  // namespace reconciler
