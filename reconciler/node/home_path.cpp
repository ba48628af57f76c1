#include "reconciler/node/home_path.h"

#include "reconciler/base/text.h"
#include "reconciler/node/home_path.sh.h"

namespace reconciler {

std::string_view GetHomePathFunction() { return kHomePathSh; }

HomeMap ParseHomes(std::string_view stderr_text) {
  HomeMap homes;
  for (const std::string& line : SplitLines(stderr_text)) {
    if (!line.starts_with("home ")) continue;
    const std::size_t blank = line.find(' ', 5);
    if (blank == std::string::npos || blank + 1 == line.size()) continue;
    homes[line.substr(5, blank - 5)] = line.substr(blank + 1);
  }
  return homes;
}

std::string ReadHomeUser(std::string_view path) {
  const std::size_t slash = path.find('/');
  return std::string(path.substr(1, slash == std::string_view::npos ? slash : slash - 1));
}

std::optional<std::string> ResolveHome(std::string_view path, const HomeMap& homes) {
  const auto home = homes.find(ReadHomeUser(path));
  const std::size_t slash = path.find('/');
  if (home == homes.end() || slash == std::string_view::npos) return std::nullopt;
  return home->second + std::string(path.substr(slash));
}

}  // namespace reconciler
