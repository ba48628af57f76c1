#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// `text` between quotes as a message may show it: printable and at most 60 bytes of it.
std::string Quoted(std::string_view text);

// The candidate that `word` is probably a slip of. Long words and long lists of candidates get no
// guess: guessing costs the product of their lengths.
std::optional<std::string> Guess(std::string_view word, const std::vector<std::string>& candidates);

// ", did you mean 'mtu'?", or nothing when no candidate is near.
std::string FormatGuess(std::string_view word, const std::vector<std::string>& candidates);

// "known: spark-1, spark-2"; nothing for a list that is too long to be read.
std::string FormatKnownHint(const std::vector<std::string>& known);

}  // namespace reconciler
