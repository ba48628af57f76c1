#pragma once

#include <string>

#include "reconciler/base/observed.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins {

// For the file of a unit that shall be enabled. systemd takes a unit for enabled by any link to it,
// also by one that its [Install] section does not want any more. Where that section changes, the
// links are made again by a trigger, when all files are written, since `Also=` may name the unit of
// a later one, and after a revert has restored the file. The file's reload follows it. `unit_file`:
// "enabled", "disabled" and so on; where it is not known, such a change is blocked. Returns whether
// the links are made again.
bool RelinkWhereInstallChanges(Resource& file, const std::string& unit,
                               const Observed<std::string>& unit_file);

}  // namespace reconciler::plugins
