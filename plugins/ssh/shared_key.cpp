#include "plugins/ssh/shared_key.h"

#include <algorithm>
#include <string>
#include <vector>

#include "plugins/ssh/config_line.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::ssh {
namespace {

constexpr std::string_view kSharedKey = "/id_ed25519_shared";

}  // namespace

std::optional<int> FindSharedKeyLine(std::string_view config) {
  bool is_for_all = true;  // what stands before the first section
  int number = 0;
  for (const std::string& line : SplitLines(config)) {
    ++number;
    const std::vector<std::string> words = SplitConfigLine(line);
    if (words.size() < 2) continue;
    const std::string& keyword = words[0];
    if (keyword == "host") {
      is_for_all = std::find(words.begin() + 1, words.end(), "*") != words.end();
    } else if (keyword == "match") {
      is_for_all = words[1] == "all";
    } else if (keyword == "identityfile" && is_for_all && words[1].ends_with(kSharedKey)) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace reconciler::plugins::ssh
