#include "reconciler/planning/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/base/unified_diff.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {
namespace {

constexpr std::string_view kBegin = "# BEGIN spark-reconcile ";
constexpr std::string_view kEnd = "# END spark-reconcile ";

// Each with its newline.
std::vector<std::string_view> CutLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

// One past the block that begins at `at`; `at` where none does. A begin marker without its end
// marker begins nothing.
std::size_t FindBlockEnd(const std::vector<std::string_view>& lines, std::size_t at) {
  if (!lines[at].starts_with(kBegin)) return at;
  const std::string end = fmt::format("{}{}", kEnd, Trim(lines[at].substr(kBegin.size())));
  for (std::size_t i = at + 1; i < lines.size(); ++i) {
    if (Trim(lines[i]) == end) return i + 1;
  }
  return at;
}

void HideIn(FileState& file) { file.content = HideForeignLines(file.content); }

void HideIn(std::vector<Action>& actions) {
  for (Action& action : actions) {
    if (auto* write = std::get_if<WriteFile>(&action)) HideIn(write->state);
  }
}

}  // namespace

std::string HideForeignLines(std::string_view content) {
  if (FindOwner(content)) return std::string(content);
  const std::vector<std::string_view> lines = CutLines(content);
  std::string shown;
  std::size_t hidden = 0;
  const auto say_hidden = [&] {
    if (hidden == 0) return;
    shown += fmt::format("({} not ours)\n", FormatPlural(hidden, "line that is", "lines that are"));
    hidden = 0;
  };
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = FindBlockEnd(lines, at);
    if (end == at) {
      ++hidden;
      ++at;
      continue;
    }
    say_hidden();
    for (; at < end; ++at) shown += lines[at];
  }
  say_hidden();
  return shown;
}

std::string MakeShownDiff(std::string_view before, std::string_view after) {
  return MakeUnifiedDiff(HideForeignLines(before), HideForeignLines(after));
}

void HideForeignContent(Change& change) {
  HideIn(change.actions);
  HideIn(change.revert);
  if (change.before) HideIn(*change.before);
}

Plan HideForeignContent(Plan plan) {
  for (Stage& stage : plan.stages) {
    for (Change& change : stage.changes) HideForeignContent(change);
    for (Change& change : stage.held) HideForeignContent(change);
  }
  plan.id = ComputePlanDigest(plan);
  return plan;
}

ClusterFacts HideForeignContent(ClusterFacts facts) {
  for (auto& [name, node] : facts.nodes) {
    for (auto& [path, file] : node.files) {
      if (auto* state = std::get_if<FileState>(&file)) HideIn(*state);
    }
    auto* ledger = std::get_if<Ledger>(&node.ledger);
    if (ledger == nullptr) continue;
    for (LedgerEntry& entry : ledger->entries) HideIn(entry.original);
  }
  return facts;
}

}  // namespace reconciler
