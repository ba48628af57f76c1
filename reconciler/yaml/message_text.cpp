#include "reconciler/yaml/message_text.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::size_t kLongestQuote = 60;  // bytes
constexpr std::size_t kLongestGuess = 64;  // bytes
constexpr std::size_t kMostCandidates = 1000;

}  // namespace

std::string Quoted(std::string_view text) {
  const bool cut = text.size() > kLongestQuote;
  std::size_t end = cut ? kLongestQuote : text.size();
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return "'" + MakePrintable(text.substr(0, end)) + (cut ? "…'" : "'");
}

std::optional<std::string> Guess(std::string_view word,
                                 const std::vector<std::string>& candidates) {
  const auto is_long = [](std::string_view text) { return text.size() > kLongestGuess; };
  if (is_long(word) || candidates.size() > kMostCandidates ||
      std::any_of(candidates.begin(), candidates.end(), is_long)) {
    return std::nullopt;
  }
  return FindClosestMatch(word, candidates);
}

std::string FormatGuess(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> guess = Guess(word, candidates);
  return guess ? ", did you mean " + Quoted(*guess) + "?" : "";
}

std::string FormatKnownHint(const std::vector<std::string>& known) {
  constexpr std::size_t kMostShown = 12;
  if (known.empty() || known.size() > kMostShown) return {};
  std::vector<std::string> shown;
  for (const std::string& one : known) shown.push_back(MakePrintable(one.substr(0, 60)));
  return "known: " + Join(shown, ", ");
}

}  // namespace reconciler
