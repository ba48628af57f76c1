#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace reconciler {

// NAME='value' lines to stand before an embedded script: the way in which values come into one.
// Names are upper case in the scripts; where it needs a list of words, a function is called with
// quoted arguments instead.
std::string AssignForShell(
    std::initializer_list<std::pair<std::string_view, std::string_view>> values);

}  // namespace reconciler
