#pragma once

#include <string>
#include <vector>

namespace reconciler::plugins::ssh {

// The words of a line of ~/.ssh/config, the keyword in lower case; it and its value may be joined
// by '=' instead of spaces.
std::vector<std::string> SplitConfigLine(std::string line);

}  // namespace reconciler::plugins::ssh
