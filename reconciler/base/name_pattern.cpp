#include "reconciler/base/name_pattern.h"

#include <fnmatch.h>

namespace reconciler {
namespace {

constexpr char kExclude = '!';

}  // namespace

bool IsNamePattern(std::string_view entry) {
  return entry.find_first_of("*?[") != std::string_view::npos;
}

bool MatchesName(std::string_view pattern, std::string_view name) {
  if (pattern.starts_with(kExclude)) pattern.remove_prefix(1);
  if (!IsNamePattern(pattern)) return pattern == name;
  return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), FNM_NOESCAPE) == 0;
}

bool IsNameSelected(const std::vector<std::string>& patterns, std::string_view name) {
  bool has_wanted = false;
  bool wanted = false;
  for (const std::string& pattern : patterns) {
    const bool matches = MatchesName(pattern, name);
    if (pattern.starts_with(kExclude)) {
      if (matches) return false;
    } else {
      has_wanted = true;
      wanted |= matches;
    }
  }
  return wanted || !has_wanted;
}

}  // namespace reconciler
