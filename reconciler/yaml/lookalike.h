#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace reconciler {

// A character that a person takes for another one: a no-break space, a Cyrillic letter.
struct Lookalike {
  std::size_t offset = 0;  // in bytes, from the beginning of the text
  int column = 0;          // the same in characters
  bool is_space = false;
  std::string name = {};  // "U+00A0, a no-break space", "U+0435 is Cyrillic"
};

// The first one of `text`, which is UTF-8.
std::optional<Lookalike> FindLookalike(std::string_view text);

// The first space that YAML takes for a letter, in a line of a manifest; what is in quotes or
// behind a '#' is text for people and may have it.
std::optional<Lookalike> FindFalseBlank(std::string_view line);

// What to do about text that has one; empty where it has none.
std::string FormatLookalikeHint(std::string_view text);

}  // namespace reconciler
