#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler::plugins {

inline constexpr std::string_view kPeermemModule = "nvidia_peermem";

// nvidia-peermem and nvidia_peermem are one module, which the kernel writes in the second way.
std::string FormatKernelModuleName(std::string_view module);

enum class GpuMode { kAuto, kOff, kPeermem, kDmabuf };

struct GpuModule {
  std::string name = {};     // as the kernel writes it
  std::string written = {};  // as the manifest does
  Position position = {};
};

// The manifest's `gpudirect`.
struct GpuSection {
  GpuMode mode = GpuMode::kAuto;
  bool required = false;  // where the hardware rules the mode out, nothing at all is applied
  std::vector<GpuModule> listed = {};
  Position position = {};  // of the key

  // What must be loaded, now and at boot: the listed ones and that of the mode, each once.
  std::vector<GpuModule> Modules() const;
  bool Loads(std::string_view module) const;
  bool Lists(std::string_view module) const;  // by its name, and not only by the mode
};

// nullopt: the manifest has none, so that nothing about GPUDirect is ours.
std::optional<GpuSection> ReadGpuSection(const Member* gpudirect);
// As it holds for a node.
std::optional<GpuSection> ReadGpuSection(const ClusterSpec& cluster, std::string_view node);

std::string_view ToString(GpuMode mode);

}  // namespace reconciler::plugins
