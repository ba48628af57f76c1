#pragma once

#include <string>

#include "reconciler/base/result.h"

namespace reconciler::cli {

// Reads one line from the terminal (not from stdin) without showing it. Errors (kUsage): there is
// no terminal, or Ctrl-C or Ctrl-D ended the input.
Result<std::string> PromptPassword(const std::string& prompt);

}  // namespace reconciler::cli
