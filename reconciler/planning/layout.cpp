#include "reconciler/planning/layout.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// The bytes of the first `columns` code points.
std::size_t FindEndOfColumns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size() && columns > 0; --columns) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
  }
  return at;
}

// Where the second column of a line begins; of a line that goes on below one, its own begin. 0:
// there is none, or no room for one.
std::size_t FindSecondColumn(std::string_view line, std::size_t columns) {
  constexpr std::size_t kRoom = 20;
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", first);
  const std::size_t second =
      gap == std::string_view::npos ? first : line.find_first_not_of(' ', gap);
  const bool is_column =
      second != std::string_view::npos && second > 2 && second + kRoom <= columns;
  return is_column ? second : 0;
}

}  // namespace

std::string ShortenTo(std::string_view text, std::size_t columns) {
  if (CountColumns(text) <= columns) return std::string(text);
  return std::string(text.substr(0, FindEndOfColumns(text, columns - 1))) + "…";
}

std::vector<std::string> WrapTo(std::string_view text, std::size_t columns,
                                std::string_view indent) {
  std::vector<std::string> lines;
  std::string begin;
  while (columns > 0 && CountColumns(begin) + CountColumns(text) > columns) {
    const std::size_t most = FindEndOfColumns(text, columns - CountColumns(begin));
    // A space that ends the line, but none of the indent that the text itself begins with.
    const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t space = text.rfind(' ', most);
    const bool breaks = space != std::string_view::npos && space > first;
    const std::size_t end = breaks ? space : most;
    std::string line = begin + std::string(text.substr(0, end));
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    text.remove_prefix(end);
    if (breaks) text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    begin = indent;
  }
  lines.push_back(begin + std::string(text));
  return lines;
}

std::string WrapLines(const std::string& text, std::size_t columns) {
  if (columns == 0) return text;
  std::string wrapped;
  for (const std::string& line : SplitLines(text)) {
    const std::string indent(std::min(line.find_first_not_of(' '), line.size()) + 2, ' ');
    wrapped += Join(WrapTo(line, columns, indent), "\n") + "\n";
  }
  return wrapped;
}

std::string WrapColumns(const std::string& text, std::size_t columns) {
  if (columns == 0) return text;
  std::string wrapped;
  for (const std::string& line : SplitLines(text)) {
    const std::size_t second = FindSecondColumn(line, columns);
    const std::size_t deeper = std::min(line.find_first_not_of(' '), line.size()) + 2;
    const std::string indent(second > 0 ? second : deeper, ' ');
    wrapped += Join(WrapTo(line, columns, indent), "\n") + "\n";
  }
  return wrapped;
}

}  // namespace reconciler
