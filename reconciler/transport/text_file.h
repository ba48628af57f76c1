#pragma once

#include <cstddef>
#include <string>

#include "reconciler/base/result.h"

namespace reconciler {

// Bytes: more than any file that is read by mistake should take of the memory. The largest plans
// and reports are far below it.
constexpr std::size_t kMostText = 64u << 20;

// A file of this machine, whole; of a device or a pipe all that comes. `most`: bytes, whole MiB. A
// kUsage error names the file and says why it cannot be read, or that it is larger.
Result<std::string> ReadTextFile(const std::string& path, std::size_t most = kMostText);

}  // namespace reconciler
