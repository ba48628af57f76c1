#pragma once

#include <string>
#include <string_view>

namespace reconciler {

// Hunks in the form of `diff -U context`, without the two file name lines. A last line that lacks
// its newline is followed by "\ No newline at end of file". Empty when the texts are equal.
std::string MakeUnifiedDiff(std::string_view before, std::string_view after, int context = 3);

}  // namespace reconciler
