#pragma once

#include <string>
#include <string_view>

namespace reconciler::plugins {

// As a part of a unit's name, by the rules of systemd-escape(1): "a-b" is "a\x2db".
std::string EscapeForUnit(std::string_view text);

// An absolute path other than "/", as `systemd-escape --path` has it: "/mnt/data" is "mnt-data".
std::string EscapePathForUnit(std::string_view path);

}  // namespace reconciler::plugins
