#pragma once

#include <string>

namespace reconciler {

// A path "~user/rest" stands for a file in that user's home directory on the node, wherever the
// node's user database says that is. Below a home everything is read and written by a process with
// that user's rights and no others, and no symbolic link is followed there.

// Defines `resolve PATH ROOT`, which finds the home; `load_target`, `is_target` and the others over
// the file of a journalled step; and `in_home VERB`, which all of them go through.
std::string GetHomeFunctions();

}  // namespace reconciler
