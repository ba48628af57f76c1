#include "reconciler/verify/report/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/report_nccl.h"

namespace reconciler {
namespace {

constexpr std::size_t kColumns = 100;

std::string_view ChooseMark(const Check& check) {
  switch (check.outcome) {
    case Outcome::kPass:
      return "ok";
    case Outcome::kWarn:
      return "warn";
    case Outcome::kFail:
      return "FAIL";
    case Outcome::kCouldNotMeasure:
      return "?";
    case Outcome::kSkipped:
      return "-";
  }
  return {};
}

// Marks of all networks between two nodes: management (no rail) first, then in rail order.
using Cells =
    std::map<std::pair<NodeName, NodeName>, std::map<std::optional<int>, std::string_view>>;

struct Matrix {
  std::vector<NodeName> nodes;  // rows and columns
  std::set<std::optional<int>> rails;
  Cells cells;
};

// `what`: a level may have other checks between the same two nodes.
Matrix BuildMatrix(const Report& report, VerifyLevel level, std::string_view what) {
  Matrix matrix;
  for (const Check& check : report.checks) {
    if (check.level != level || check.what != what || check.to.empty()) continue;
    for (const NodeName& node : {check.from, check.to}) {
      if (std::find(matrix.nodes.begin(), matrix.nodes.end(), node) == matrix.nodes.end()) {
        matrix.nodes.push_back(node);
      }
    }
    matrix.rails.insert(check.rail);
    matrix.cells[{check.from, check.to}][check.rail] = ChooseMark(check);
  }
  return matrix;
}

// `slot`: the width of each mark, so that the marks of one rail stand below each other.
std::string FormatCell(const Matrix& matrix, const NodeName& from, const NodeName& to,
                       std::size_t slot) {
  const auto cell = matrix.cells.find({from, to});
  if (cell == matrix.cells.end()) return "-";
  std::vector<std::string> marks;
  for (const auto& [rail, mark] : cell->second) marks.push_back(fmt::format("{:<{}}", mark, slot));
  return Join(marks, " ");
}

std::string TrimLine(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string FormatMatrix(const Matrix& matrix, std::string_view title) {
  std::size_t slot = 1;
  for (const auto& [pair, marks] : matrix.cells) {
    for (const auto& [rail, mark] : marks) slot = std::max(slot, mark.size());
  }
  std::size_t cell = 0;
  std::size_t name = 0;
  for (const NodeName& from : matrix.nodes) {
    name = std::max(name, from.size());
    for (const NodeName& to : matrix.nodes) {
      cell = std::max(cell, FormatCell(matrix, from, to, slot).size());
    }
  }
  const auto width = [&](std::size_t column) {
    return 2 + name + matrix.nodes.size() * (2 + column);
  };
  // Long names would push the columns apart: number them.
  const bool numbered = name > cell && width(name) > kColumns;
  std::vector<std::string> heads;
  std::vector<std::string> rows;
  const std::size_t digits = std::to_string(matrix.nodes.size()).size();
  for (std::size_t i = 0; i < matrix.nodes.size(); ++i) {
    heads.push_back(numbered ? std::to_string(i + 1) : matrix.nodes[i]);
    rows.push_back(numbered ? fmt::format("{:>{}} {}", i + 1, digits, matrix.nodes[i])
                            : matrix.nodes[i]);
  }
  const std::size_t label = numbered ? name + digits + 1 : name;
  const std::size_t column = numbered ? std::max(cell, digits) : std::max(cell, name);

  std::vector<std::string> rails;
  for (const std::optional<int> rail : matrix.rails) {
    rails.push_back(rail ? FormatRailName(*rail) : "management");
  }
  std::string text = fmt::format("{}, from row to column ({})\n", title, Join(rails, " "));
  std::string head = fmt::format("  {:<{}}", "", label);
  for (const std::string& each : heads) head += fmt::format("  {:<{}}", each, column);
  text += TrimLine(std::move(head));
  for (std::size_t i = 0; i < matrix.nodes.size(); ++i) {
    std::string row = fmt::format("  {:<{}}", rows[i], label);
    for (const NodeName& to : matrix.nodes) {
      row += fmt::format("  {:<{}}", FormatCell(matrix, matrix.nodes[i], to, slot), column);
    }
    text += TrimLine(std::move(row));
  }
  return text + "\n";
}

// `text` after `head`, its words in lines that begin below each other.
std::string Wrap(std::string head, std::string_view text, std::size_t columns) {
  const std::size_t indent = head.size();
  std::size_t at = indent;
  bool first = true;
  for (const std::string& word : Split(text, ' ')) {
    if (!first && at + 1 + word.size() > columns) {
      head += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!first) {
      head += ' ';
      ++at;
    }
    head += word;
    at += word.size();
    first = false;
  }
  return head + "\n";
}

std::string FormatField(std::string_view label, std::string_view text, std::size_t columns) {
  return text.empty() ? "" : Wrap(fmt::format("    {:<11}", label), text, columns);
}

std::string FormatFinding(const Finding& finding, std::size_t columns) {
  const std::string_view mark = finding.outcome == Outcome::kFail   ? "FAIL"
                                : finding.outcome == Outcome::kWarn ? "warn"
                                                                    : "?";
  std::string text =
      Wrap(fmt::format("  {} {}: ", mark, finding.code), FormatPlace(finding), columns);
  const auto add = [&](std::string_view label, std::string_view value) {
    text += FormatField(label, value, columns);
  };
  add("expected", finding.expected);
  add("measured", finding.measured);
  for (const std::string& line : finding.evidence) add("evidence", line);
  add("cause", finding.cause);
  add("next step", finding.next_step);
  if (finding.explains > 1) add("explains", FormatPlural(finding.explains, "check", "checks"));
  return text + "\n";
}

std::string FormatFacts(const Report& report) {
  std::map<Outcome, std::size_t> counts;
  std::size_t total = 0;
  for (const Check& check : report.checks) {
    if (check.level != VerifyLevel::kFacts) continue;
    ++counts[check.outcome];
    ++total;
  }
  if (total == 0) return "";
  std::string text = fmt::format(
      "facts: {} passed, {} failed, {} could not be measured, {} skipped", counts[Outcome::kPass],
      counts[Outcome::kFail], counts[Outcome::kCouldNotMeasure], counts[Outcome::kSkipped]);
  if (const std::size_t warned = counts[Outcome::kWarn]; warned > 0) {
    text += fmt::format(", {}", FormatPlural(warned, "warning", "warnings"));
  }
  return text + "\n\n";
}

std::string FormatSummary(const Report& report) {
  std::string text =
      fmt::format("{}: {} passed, {} failed, {} could not be measured, {} skipped",
                  FormatPlural(report.checks.size(), "check", "checks"),
                  report.Count(Outcome::kPass), report.Count(Outcome::kFail),
                  report.Count(Outcome::kCouldNotMeasure), report.Count(Outcome::kSkipped));
  if (const std::size_t warned = report.Count(Outcome::kWarn); warned > 0) {
    text += fmt::format(", {}", FormatPlural(warned, "warning", "warnings"));
  }
  if (!report.findings.empty()) {
    text += fmt::format("; {}", FormatPlural(report.findings.size(), "cause", "causes"));
  }
  return text + "\n";
}

// One line per direction: what was written on each rail alone, and on all of them together.
std::string FormatWrites(const Report& report) {
  const std::optional<std::string> skipped = FindCommonSkip(report, VerifyLevel::kRdma);
  std::map<std::pair<NodeName, NodeName>, std::string> lines;
  for (const Check& check : report.checks) {
    if (check.level != VerifyLevel::kRdma) continue;
    const std::string what = check.measured.empty() ? std::string(ToString(check.outcome))
                                                    : MakePrintable(check.measured);
    lines[{check.from, check.to}] +=
        fmt::format("  {}{} {}{}", FormatRailName(check.rail.value_or(0)),
                    check.what == "write-alone" ? "" : " with the others", what,
                    check.outcome == Outcome::kPass || check.measured.empty() ? "" : " ✗");
  }
  if (lines.empty()) return {};
  if (skipped) return fmt::format("rdma write: skipped: {}\n\n", *skipped);
  std::string text = "rdma write\n";
  for (const auto& [pair, line] : lines) {
    text += fmt::format("  {} → {}{}\n", pair.first, pair.second, line);
  }
  return text + "\n";
}

// As --level and the manifest name it: `link` ends with ssh.
std::string_view GetChosenLevel(VerifyLevel level) {
  return level == VerifyLevel::kSsh ? "link" : ToString(level);
}

}  // namespace

std::string RenderReport(const Report& report, std::size_t columns) {
  const std::size_t widest = columns == 0 ? kColumns : std::min(columns, kColumns);
  std::string text =
      fmt::format("{} · verify up to {}\n\n", report.cluster, GetChosenLevel(report.level));
  text += FormatFacts(report);
  if (const Matrix pings = BuildMatrix(report, VerifyLevel::kPing, "jumbo-ping");
      !pings.nodes.empty()) {
    text += FormatMatrix(pings, "jumbo ping");
  }
  if (const Matrix logins = BuildMatrix(report, VerifyLevel::kSsh, "ssh"); !logins.nodes.empty()) {
    text += FormatMatrix(logins, "ssh");
  }
  text += FormatWrites(report);
  if (report.nccl) text += FormatNccl(report);
  if (!report.findings.empty()) {
    text += "findings\n";
    for (const Finding& finding : report.findings) text += FormatFinding(finding, widest);
  }
  text += FormatSummary(report);
  if (report.not_measured) text += FormatNotMeasured(report) + "\n";
  return text;
}

}  // namespace reconciler
