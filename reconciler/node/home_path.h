#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace reconciler {

// A path "~user/rest" stands for a file in that user's home directory on the node, wherever the
// node's user database says that is.

// Defines the shell function `resolve PATH ROOT`: sets T to the path with the home put in and ROOT
// before it, or to an empty string when the node has no such user. Each user's home is looked up
// once and reported on stderr as "home USER DIRECTORY".
std::string_view GetHomePathFunction();

using HomeMap = std::map<std::string, std::string>;  // user → home directory

HomeMap ParseHomes(std::string_view stderr_text);
std::string ReadHomeUser(std::string_view path);  // "nvidia" of "~nvidia/.ssh/config"
std::optional<std::string> ResolveHome(std::string_view path, const HomeMap& homes);

}  // namespace reconciler
