// Where the sources and what was built of them lie. As functions of one small file, since a path
// among the definitions or in the text of each test would make a compiler cache useless to every
// other checkout.
#pragma once

#include <string>

namespace reconciler::test {

// Absolute, without a slash at the end.
std::string SourceDir();
std::string BinaryDir();

}  // namespace reconciler::test
