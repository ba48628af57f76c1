#pragma once

#include <string_view>
#include <vector>

#include "plugins/common/gpu/gpu_section.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::gpudirect {

inline constexpr std::string_view kModulesFile = "/etc/modules-load.d/60-spark-reconcile.conf";
// Read at boot only: what is loaded now is loaded by commands of its own.
inline constexpr std::string_view kModulesTrial = "/run/modules-load.d/60-spark-reconcile.conf";

// The modules of the section: each loaded now, and named in our file for the next boot. One that
// this kernel cannot load is blocked and is not in the file, since every boot would try it in vain;
// that of a mode which need not hold is left as it is.
std::vector<Resource> ListModuleResources(const GpuSection& section, const PluginInput& input);

}  // namespace reconciler::plugins::gpudirect
