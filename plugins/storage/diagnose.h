#pragma once

#include <vector>

#include "plugins/storage/section.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::storage {

inline constexpr const char* kFstab = "/etc/fstab";

// What keeps a volume from being mounted as the manifest has it, and what else would mount it.
std::vector<Diagnostic> DiagnoseVolumes(const PluginInput& input);

}  // namespace reconciler::plugins::storage
