#include "reconciler/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace reconciler {
namespace {

// Length in bytes of the UTF-8 sequence that starts at `i`; 0 when there is no valid one.
std::size_t Utf8SequenceLength(std::string_view bytes, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(bytes[k]); };
  const unsigned char lead = byte(i);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || i + length > bytes.size()) return 0;
  for (std::size_t k = i + 1; k < i + length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(i + 1);
  const bool overlong_or_surrogate =
      (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return overlong_or_surrogate ? 0 : length;
}

}  // namespace

std::vector<std::string> SplitLines(std::string_view text) {
  if (text.empty()) return {};
  if (text.back() == '\n') text.remove_suffix(1);
  return Split(text, '\n');
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string FirstLabel(std::string_view host) { return ToLower(host.substr(0, host.find('.'))); }

std::string GetBasename(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string FormatPlural(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::size_t ComputeEditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

namespace {

// A short word with another first letter is another word, such as nfs and xfs.
bool IsAnotherWord(std::string_view a, std::string_view b) {
  constexpr std::size_t kShort = 3;
  return std::max(a.size(), b.size()) <= kShort && a.substr(0, 1) != b.substr(0, 1);
}

}  // namespace

std::optional<std::string> FindClosestMatch(std::string_view word,
                                            const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = 3;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = ComputeEditDistance(word, candidate);
    if (distance < best_distance && distance * 2 < std::max(word.size(), candidate.size()) &&
        !IsAnotherWord(word, candidate)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string QuoteForShell(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw std::logic_error("a word for a shell holds a NUL byte");
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "'";
}

std::string JoinForShell(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  words.reserve(argv.size());
  for (const std::string& word : argv) words.push_back(QuoteForShell(word));
  return Join(words, " ");
}

namespace {

// The code points of Unicode's Bidi_Control, all of two or three bytes of UTF-8.
bool ChangesDirection(std::uint32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F ||
         (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

// Of a sequence of two or three bytes; 0 for another length.
std::uint32_t DecodeShort(std::string_view sequence) {
  const auto bits = [&](std::size_t k, unsigned mask) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(sequence[k]) & mask);
  };
  if (sequence.size() == 2) return bits(0, 0x1F) << 6 | bits(1, 0x3F);
  if (sequence.size() == 3) return bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
  return 0;
}

}  // namespace

std::size_t FindDirectionControl(std::string_view bytes, std::size_t i) {
  const std::size_t length = Utf8SequenceLength(bytes, i);
  return ChangesDirection(DecodeShort(bytes.substr(i, length))) ? length : 0;
}

std::string MakePrintable(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = Utf8SequenceLength(bytes, i);
    const auto lead = static_cast<unsigned char>(bytes[i]);
    // C0 and C1 controls and DEL; C1 is the two-byte sequence C2 80 to C2 9F.
    const bool control =
        lead < 0x20 || lead == 0x7F ||
        (length == 2 && lead == 0xC2 && static_cast<unsigned char>(bytes[i + 1]) < 0xA0);
    if (length == 0 || control) {
      text += fmt::format("\\x{:02x}", lead);
      ++i;
      continue;
    }
    const std::string_view sequence = bytes.substr(i, length);
    const std::uint32_t point = DecodeShort(sequence);
    if (ChangesDirection(point)) {
      text += fmt::format("\\u{:04x}", point);
    } else {
      text.append(sequence);
    }
    i += length;
  }
  return text;
}

std::size_t CountColumns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string FormatTable(const std::vector<std::vector<std::string>>& rows,
                        std::string_view indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], CountColumns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent);
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - CountColumns(row[i]) + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string FindLastLine(std::string_view text) {
  const std::vector<std::string> lines = SplitLines(Trim(text));
  return lines.empty() ? "" : MakePrintable(Trim(lines.back()));
}

bool IsValidUtf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    // Most texts are ASCII, and some are long: eight bytes at a time.
    std::uint64_t eight = 0;
    if (bytes.size() - i >= sizeof eight) {
      std::memcpy(&eight, bytes.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const std::size_t length = Utf8SequenceLength(bytes, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

}  // namespace reconciler
