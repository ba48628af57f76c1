#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// Whether a list selects the name, as --node and --exclude do with nodes. An entry is a name, or a
// pattern as of a shell ("spark-[1-4]", "spark-*"); after "!" it excludes. A list without other
// entries selects all that it does not exclude.
bool IsNameSelected(const std::vector<std::string>& patterns, std::string_view name);

// Whether the entry, with or without its "!", matches the name.
bool MatchesName(std::string_view pattern, std::string_view name);

// Not a name: "*", "?" or "[" is in it.
bool IsNamePattern(std::string_view entry);

}  // namespace reconciler
