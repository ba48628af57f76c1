#include "plugins/ssh/config_line.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::plugins::ssh {

std::vector<std::string> SplitConfigLine(std::string line) {
  std::replace(line.begin(), line.end(), '\t', ' ');
  std::replace(line.begin(), line.end(), '=', ' ');
  std::vector<std::string> words = Split(Trim(line), ' ');
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  if (!words.empty()) words.front() = ToLower(words.front());
  return words;
}

}  // namespace reconciler::plugins::ssh
