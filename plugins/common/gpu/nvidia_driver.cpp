#include "plugins/common/gpu/nvidia_driver.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler::plugins {

// "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.142  Release Build …".
Observed<NvidiaDriver> ParseNvidiaDriver(const Observed<std::string>& line) {
  return AndThen(line, [](const std::string& text) -> Observed<NvidiaDriver> {
    const bool open = text.find("Open Kernel Module") != std::string::npos;
    for (const std::string& word : Split(text, ' ')) {
      if (word.find('.') == std::string::npos || word[0] < '0' || word[0] > '9') continue;
      return NvidiaDriver{.open = open, .version = MakePrintable(word)};
    }
    return Unknown{fmt::format("{} has no version in its first line", kDriverFile)};
  });
}

}  // namespace reconciler::plugins
