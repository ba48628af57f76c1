#include "reconciler/yaml/lookalike.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace reconciler {
namespace {

struct Named {
  std::uint32_t point = 0;
  std::string_view name = {};
};

constexpr std::array<Named, 9> kSpaces = {{{0x00A0, "a no-break space"},
                                           {0x00AD, "a soft hyphen"},
                                           {0x2007, "a figure space"},
                                           {0x200B, "a zero-width space"},
                                           {0x200D, "a zero-width joiner"},
                                           {0x202F, "a narrow no-break space"},
                                           {0x2060, "a word joiner"},
                                           {0x3000, "an ideographic space"},
                                           {0xFEFF, "a byte order mark"}}};

constexpr std::array<Named, 10> kSigns = {{{0x2010, "a hyphen"},
                                           {0x2011, "a no-break hyphen"},
                                           {0x2013, "an en dash"},
                                           {0x2014, "an em dash"},
                                           {0x2018, "a typographic quote"},
                                           {0x2019, "a typographic quote"},
                                           {0x201C, "a typographic quote"},
                                           {0x201D, "a typographic quote"},
                                           {0x2212, "a minus sign"},
                                           {0xFF1A, "a full-width colon"}}};

struct Script {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::string_view name = {};
};

constexpr std::array<Script, 3> kScripts = {
    {{0x0370, 0x03FF, "Greek"}, {0x0400, 0x052F, "Cyrillic"}, {0xFF01, 0xFF5E, "full-width"}}};

struct Character {
  std::uint32_t point = 0;
  std::size_t bytes = 1;
};

// Precondition: `text` is valid UTF-8 and begins with a whole character.
Character Decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  std::uint32_t point = bytes == 1 ? first : first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < std::min(bytes, text.size()); ++i) {
    point = (point << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  return {point, std::min(bytes, text.size())};
}

template <class List>
const Named* FindNamed(const List& list, std::uint32_t point) {
  const auto* found =
      std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.point == point; });
  return found == list.end() ? nullptr : found;
}

std::string FindName(std::uint32_t point) {
  const Named* named = FindNamed(kSpaces, point);
  if (named == nullptr) named = FindNamed(kSigns, point);
  if (named != nullptr) return fmt::format("U+{:04X}, {}", point, named->name);
  for (const Script& script : kScripts) {
    if (point >= script.first && point <= script.last) {
      return fmt::format("U+{:04X} is {}", point, script.name);
    }
  }
  return {};
}

}  // namespace

std::optional<Lookalike> FindLookalike(std::string_view text) {
  int column = 0;
  for (std::size_t i = 0; i < text.size(); ++column) {
    const Character one = Decode(text.substr(i));
    if (std::string name = FindName(one.point); !name.empty()) {
      return Lookalike{i, column, FindNamed(kSpaces, one.point) != nullptr, std::move(name)};
    }
    i += one.bytes;
  }
  return std::nullopt;
}

std::optional<Lookalike> FindFalseBlank(std::string_view line) {
  char quote = '\0';
  int column = 0;
  char before = ' ';
  for (std::size_t i = 0; i < line.size(); ++column) {
    const Character one = Decode(line.substr(i));
    const char c = one.bytes == 1 ? line[i] : '\0';
    if (quote == '\0') {
      if (c == '#' && before == ' ') return std::nullopt;
      if (const Named* space = FindNamed(kSpaces, one.point)) {
        return Lookalike{i, column, true, fmt::format("U+{:04X}, {}", one.point, space->name)};
      }
    }
    const bool begins = std::string_view(" [{,").find(before) != std::string_view::npos;
    if ((c == '"' || c == '\'') && quote == '\0' && begins) {
      quote = c;
    } else if (c != '\0' && c == quote) {
      quote = '\0';
    }
    before = c;
    i += one.bytes;
  }
  return std::nullopt;
}

std::string FormatLookalikeHint(std::string_view text) {
  const auto found = FindLookalike(text);
  if (!found) return {};
  if (found->is_space) return found->name + ": type an ordinary blank, or none";
  const bool is_letter = found->name.find(',') == std::string::npos;
  return found->name + (is_letter ? ": type it with Latin letters" : ": type the plain character");
}

}  // namespace reconciler
