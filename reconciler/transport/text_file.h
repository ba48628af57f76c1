#pragma once

#include <string>

#include "reconciler/base/result.h"

namespace reconciler {

// A file of this machine, whole. A kUsage error names it and says why it cannot be read.
Result<std::string> ReadTextFile(const std::string& path);

}  // namespace reconciler
