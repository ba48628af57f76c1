#pragma once

#include <string>
#include <string_view>

#include "plugins/storage/section.h"

namespace reconciler::plugins::storage {

// The script that the units run.
inline constexpr std::string_view kScript = "/usr/local/lib/spark-reconcile/volume.sh";

std::string NameConnectUnit(const Volume& volume);  // one per subsystem
std::string NameMountUnit(const Volume& volume);    // systemd wants the path in it

// It tries again for as long as the target does not answer, and no boot waits for it.
std::string FormatConnectUnit(const Volume& volume);
// It starts whenever the device appears.
std::string FormatMountUnit(const Volume& volume);

}  // namespace reconciler::plugins::storage
