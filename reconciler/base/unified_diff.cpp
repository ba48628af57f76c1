#include "reconciler/base/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace reconciler {
namespace {

// Views into the texts: lines are many (a large cluster's /etc/hosts), and most go into no hunk.
struct Line {
  char mark;  // ' ', '-', '+'
  std::string_view text;
};

constexpr std::string_view kNoNewline = "\n\\ No newline at end of file";

// A last line without its newline differs from the same line with one; the marker makes that so.
// `last` holds that line and outlives the views.
std::vector<std::string_view> SplitKeepingEnds(std::string_view text, std::string& last) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      last = std::string(text) + std::string(kNoNewline);
      lines.emplace_back(last);
      break;
    }
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Cells of the table below; larger middles are shown as replaced whole (32 MiB of table at most).
constexpr std::size_t kMostCells = 4u << 20;

// Longest common subsequence over what is left between the common head and the common tail.
std::vector<Line> FindEditScript(const std::vector<std::string_view>& a,
                                 const std::vector<std::string_view>& b) {
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const std::size_t n = a.size() - head - tail;
  const std::size_t m = b.size() - head - tail;
  const bool small = (n + 1) * (m + 1) <= kMostCells;
  std::vector<std::vector<std::size_t>> common(small ? n + 1 : 0, std::vector<std::size_t>(m + 1));
  for (std::size_t i = n; small && i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      common[i][j] = a[head + i] == b[head + j] ? common[i + 1][j + 1] + 1
                                                : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<Line> script;
  script.reserve(head + n + m + tail);
  for (std::size_t i = 0; i < head; ++i) script.push_back({' ', a[i]});
  for (std::size_t i = 0, j = 0; i < n || j < m;) {
    if (small && i < n && j < m && a[head + i] == b[head + j]) {
      script.push_back({' ', a[head + i]});
      ++i, ++j;
    } else if (i < n && (j == m || !small || common[i + 1][j] >= common[i][j + 1])) {
      script.push_back({'-', a[head + i++]});
    } else {
      script.push_back({'+', b[head + j++]});
    }
  }
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) script.push_back({' ', a[i]});
  return script;
}

std::string FormatRange(std::size_t start, std::size_t count) {
  // An empty range names the line before it, as `diff -u` does.
  const std::size_t first = count == 0 ? start : start + 1;
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

}  // namespace

std::string MakeUnifiedDiff(std::string_view before, std::string_view after, int context) {
  if (before == after) return {};
  std::string last_before;
  std::string last_after;
  const std::vector<Line> script =
      FindEditScript(SplitKeepingEnds(before, last_before), SplitKeepingEnds(after, last_after));
  const auto width = static_cast<std::size_t>(context);
  std::string text;
  std::size_t line_a = 0;
  std::size_t line_b = 0;
  for (std::size_t i = 0; i < script.size();) {
    if (script[i].mark == ' ') {
      ++i, ++line_a, ++line_b;
      continue;
    }
    const std::size_t lead = std::min(i, width);
    std::size_t first = i - lead;
    std::size_t last = i;  // one past the last changed line of this hunk
    for (std::size_t k = i; k < script.size() && k < last + 2 * width + 1; ++k) {
      if (script[k].mark != ' ') last = k + 1;
    }
    const std::size_t end = std::min(script.size(), last + width);
    std::size_t count_a = 0;
    std::size_t count_b = 0;
    std::string body;
    for (std::size_t k = first; k < end; ++k) {
      count_a += script[k].mark != '+';
      count_b += script[k].mark != '-';
      body += script[k].mark;
      body += script[k].text;
      body += '\n';
    }
    text += fmt::format("@@ -{} +{} @@\n", FormatRange(line_a - lead, count_a),
                        FormatRange(line_b - lead, count_b));
    text += body;
    line_a += count_a - lead;
    line_b += count_b - lead;
    i = end;
  }
  return text;
}

}  // namespace reconciler
