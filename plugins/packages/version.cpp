#include "plugins/packages/version.h"

#include <cstddef>

namespace reconciler::plugins::packages {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Parts {
  std::string_view epoch = {};
  std::string_view upstream = {};
  std::string_view revision = {};
};

Parts SplitVersion(std::string_view version) {
  Parts parts;
  if (const std::size_t colon = version.find(':'); colon != std::string_view::npos) {
    parts.epoch = version.substr(0, colon);
    version.remove_prefix(colon + 1);
  }
  const std::size_t dash = version.rfind('-');
  parts.upstream = version.substr(0, dash);
  if (dash != std::string_view::npos) parts.revision = version.substr(dash + 1);
  return parts;
}

// A tilde sorts before everything, the end of a part too; letters before other signs.
int Rank(std::string_view text) {
  constexpr int kAfterLetters = 256;
  if (text.empty() || IsDigit(text.front())) return 0;
  const char c = text.front();
  if (c == '~') return -1;
  return static_cast<unsigned char>(c) + (IsLetter(c) ? 0 : kAfterLetters);
}

std::string_view TakeDigits(std::string_view& text) {
  std::size_t zeros = 0;
  while (zeros < text.size() && text[zeros] == '0') ++zeros;
  text.remove_prefix(zeros);
  std::size_t size = 0;
  while (size < text.size() && IsDigit(text[size])) ++size;
  const std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  return digits;
}

// Numbers of any length, without leading zeros.
int CompareDigits(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

int ComparePart(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    while ((!a.empty() && !IsDigit(a.front())) || (!b.empty() && !IsDigit(b.front()))) {
      const int difference = Rank(a) - Rank(b);
      if (difference != 0) return difference;
      // Of one rank and not both digits: both have a sign here.
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
    const int difference = CompareDigits(TakeDigits(a), TakeDigits(b));
    if (difference != 0) return difference;
  }
  return 0;
}

}  // namespace

int CompareVersions(std::string_view a, std::string_view b) {
  const Parts left = SplitVersion(a);
  const Parts right = SplitVersion(b);
  for (const auto part : {&Parts::epoch, &Parts::upstream, &Parts::revision}) {
    const int difference = ComparePart(left.*part, right.*part);
    if (difference != 0) return difference;
  }
  return 0;
}

}  // namespace reconciler::plugins::packages
