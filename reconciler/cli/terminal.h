#pragma once

#include <cstddef>
#include <string>

#include "reconciler/base/result.h"

namespace reconciler::cli {

struct TerminalTraits {
  bool redraws = false;     // what was written can be written over
  bool colours = false;     // neither NO_COLOR nor the user rules them out
  std::size_t columns = 0;  // of a line; 0: no terminal, or one that does not say
  std::size_t rows = 0;     // likewise
};

// What the terminal behind a file descriptor can do. A "dumb" one (by TERM) has a width, and no
// more.
TerminalTraits FindTerminalTraits(int fd, bool no_colour);

// Reads one line from the terminal (not from stdin) without showing it. Errors (kUsage): there is
// no terminal (`hint` says what to do then), or Ctrl-C or Ctrl-D ended the input.
Result<std::string> PromptPassword(const std::string& prompt, const std::string& hint);

}  // namespace reconciler::cli
