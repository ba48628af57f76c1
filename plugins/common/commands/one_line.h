#pragma once

#include <string_view>

namespace reconciler::plugins {

// The command alone of a script that is comments and one line, as a plan may show it.
constexpr std::string_view FindLastLine(std::string_view script) {
  script.remove_suffix(1);
  return script.substr(script.rfind('\n') + 1);
}

}  // namespace reconciler::plugins
