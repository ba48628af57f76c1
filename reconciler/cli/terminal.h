#pragma once

#include <string>

#include "reconciler/base/result.h"

namespace reconciler::cli {

// Reads one line from the terminal (not from stdin) without showing it. Errors (kUsage): there is
// no terminal (`hint` says what to do then), or Ctrl-C or Ctrl-D ended the input.
Result<std::string> PromptPassword(const std::string& prompt, const std::string& hint);

}  // namespace reconciler::cli
