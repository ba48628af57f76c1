#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// At most `columns` wide: a longer text ends in "…". Precondition: UTF-8, and columns > 0.
std::string ShortenTo(std::string_view text, std::size_t columns);

// Lines of at most `columns`, broken at spaces where there are any, else anywhere; the lines after
// the first begin with `indent`. 0 columns: one line. Precondition: UTF-8, and the indent leaves
// room.
std::vector<std::string> WrapTo(std::string_view text, std::size_t columns,
                                std::string_view indent);

// Sentences: each line of the text is wrapped alone, and goes on two columns deeper. 0 columns: the
// text as it is.
std::string WrapLines(const std::string& text, std::size_t columns);

// The same for lines of two columns, with two spaces or more between them: the second column goes
// on below itself.
std::string WrapColumns(const std::string& text, std::size_t columns);

}  // namespace reconciler
