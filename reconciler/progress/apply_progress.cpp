#include "reconciler/progress/apply_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/planning/layout.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

std::string FormatSubject(const Change& change) { return change.kind + " " + change.name; }

std::string_view FormatPhase(ApplyPhase phase) {
  switch (phase) {
    case ApplyPhase::kChecking:
      return "checking under the lock";
    case ApplyPhase::kStaging:
      return "staging";
    case ApplyPhase::kChanging:
      return "changing";
    case ApplyPhase::kProving:
      return "reading back and proving";
    case ApplyPhase::kCommitting:
      return "committing";
    case ApplyPhase::kReverting:
      return "REVERTING";
    case ApplyPhase::kDone:
      return "committed and read back";
    case ApplyPhase::kReverted:
      return "REVERTED";
  }
  return "";
}

std::string FormatSeconds(double seconds) {
  return fmt::format("{} s", static_cast<long>(std::max(0.0, seconds)));
}

}  // namespace

ApplyProgress::ApplyProgress(const Plan& plan) : cluster_(plan.cluster), stages_(plan.stages) {
  ForEachChange(plan, [&](const Change& change) {
    NodeState& node = nodes_[change.node];
    ++node.total;
    if (change.deferred) ++node.deferred;
    done_[change.node][FormatSubject(change)] = false;
  });
}

void ApplyProgress::BeginStage(const Event& event, double at) {
  NodeState& node = nodes_[event.node];
  node.kinds.clear();
  node.since = at;
  node.stage_ends_at = node.done;
  for (const Stage& stage : stages_) {
    if (Join(stage.plugins, ", ") != event.subject) continue;
    for (const Change& change : stage.changes) {
      const bool waits = change.deferred && pass_ == 1;
      const bool is_due = change.node == event.node && change.change != ChangeKind::kBlocked &&
                          !waits && !done_[change.node][FormatSubject(change)];
      if (!is_due) continue;
      ++node.stage_ends_at;
      if (std::find(node.kinds.begin(), node.kinds.end(), change.kind) == node.kinds.end()) {
        node.kinds.push_back(change.kind);
      }
    }
  }
}

bool ApplyProgress::IsPassDone() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [&](const auto& entry) {
    const NodeState& node = entry.second;
    return node.done + (pass_ == 1 ? node.deferred : 0) >= node.total;
  });
}

void ApplyProgress::Note(const Event& event, double at) {
  switch (event.type) {
    case EventType::kStageStarted:
      return BeginStage(event, at);
    case EventType::kChangeDone: {
      NodeState& node = nodes_[event.node];
      bool& done = done_[event.node][event.subject];
      if (!done) ++node.done;
      done = true;
      node.total = std::max(node.total, node.done);
      if (node.done >= node.stage_ends_at) node.kinds.clear();
      if (phase_ == ApplyPhase::kChanging && IsPassDone()) phase_ = ApplyPhase::kProving;
      return;
    }
    case EventType::kChangeFailed:
    case EventType::kChangeUnknown:
    case EventType::kTriggerFailed: {
      NodeState& node = nodes_[event.node];
      node.kinds.clear();
      if (node.failure.empty()) node.failure = event.subject + ": " + event.detail;
      return;
    }
    case EventType::kTriggerDone:
      return;
    case EventType::kArmed:
      phase_ = ApplyPhase::kChanging;
      return;
    case EventType::kPass:
      ++pass_;
      phase_ = ApplyPhase::kStaging;
      return;
    case EventType::kReady:
      phase_ = ApplyPhase::kCommitting;
      return;
    case EventType::kConverged:
      phase_ = ApplyPhase::kDone;
      return;
    case EventType::kReverting:
      for (auto& [name, node] : nodes_) node.kinds.clear();
      phase_ = ApplyPhase::kReverting;
      return;
    case EventType::kReverted:
      phase_ = ApplyPhase::kReverted;
      return;
    case EventType::kNote:
      return;
  }
}

std::optional<LogLine> ApplyProgress::FormatLogLine(const Event& event) const {
  const std::string subject = MakePrintable(event.subject);
  const std::string node = MakePrintable(event.node);
  const std::string why = event.detail.empty() ? "" : ": " + MakePrintable(event.detail);
  const auto state = nodes_.find(event.node);
  switch (event.type) {
    case EventType::kStageStarted:
      if (state == nodes_.end() || state->second.kinds.empty()) return std::nullopt;
      return LogLine{
          LogLevel::kDetail,
          fmt::format("{}: next: {}", node, MakePrintable(Join(state->second.kinds, ", ")))};
    case EventType::kChangeDone:
      if (state == nodes_.end()) return std::nullopt;
      return LogLine{LogLevel::kInfo, fmt::format("{} {}/{}: {}", node, state->second.done,
                                                  state->second.total, subject)};
    case EventType::kChangeFailed:
      return LogLine{LogLevel::kError, fmt::format("{}: {} failed{}", node, subject, why)};
    case EventType::kChangeUnknown:
      return LogLine{LogLevel::kError,
                     fmt::format("{}: {} may or may not have been made{}", node, subject, why)};
    case EventType::kTriggerDone:
      return LogLine{LogLevel::kDetail, fmt::format("{}: {}", node, subject)};
    case EventType::kTriggerFailed:
      return LogLine{LogLevel::kError, fmt::format("{}: {} failed{}", node, subject, why)};
    case EventType::kArmed:
      return LogLine{LogLevel::kInfo, "every node would revert this on its own; changing"};
    case EventType::kPass:
      return LogLine{LogLevel::kInfo, subject + ": what became known by the changes so far"};
    case EventType::kReady:
      return LogLine{LogLevel::kInfo, "every node is ready; committing"};
    case EventType::kConverged:
      return LogLine{LogLevel::kDetail, "committed and read back" + why};
    case EventType::kReverting:
      return LogLine{LogLevel::kError, "every node reverts the plan"};
    case EventType::kReverted:
      return LogLine{LogLevel::kInfo, "every node is as before"};
    case EventType::kNote:  // the outcome lists all of them
      return std::nullopt;
  }
  return std::nullopt;
}

std::string ApplyProgress::FormatNode(const NodeName& name, const NodeState& node, double now,
                                      std::size_t name_columns, std::size_t columns) const {
  const std::string width_of_total = std::to_string(node.total);
  const std::string padding(name_columns - CountColumns(name), ' ');
  const std::string begin = fmt::format("  {}{}  {:>{}}/{}", name, padding, node.done,
                                        width_of_total.size(), width_of_total);
  std::string what;
  std::string clock;
  if (!node.failure.empty()) {
    what = "failed: " + MakePrintable(node.failure);
  } else if (!node.kinds.empty()) {
    what = MakePrintable(Join(node.kinds, ", ")) + " …";
    clock = "  " + FormatSeconds(now - node.since);
  } else if (phase_ == ApplyPhase::kChanging && node.done < node.total) {
    what = "waits";
  }
  if (what.empty()) return ShortenTo(begin, columns);
  const std::size_t used = CountColumns(begin) + 2 + clock.size();
  if (used >= columns) return ShortenTo(begin, columns);
  return begin + "  " + ShortenTo(what, columns - used) + clock;
}

std::vector<std::string> ApplyProgress::Draw(double now, std::size_t columns,
                                             std::size_t rows) const {
  std::size_t done = 0;
  std::size_t total = 0;
  std::size_t name_columns = 0;
  for (const auto& [name, node] : nodes_) {
    done += node.done;
    total += node.total;
    name_columns = std::max(name_columns, CountColumns(MakePrintable(name)));
  }
  std::string header =
      fmt::format("{}  {}/{}  {}", MakePrintable(cluster_), done, total, FormatPhase(phase_));
  if (pass_ > 1 && phase_ == ApplyPhase::kChanging) header += fmt::format(", pass {}", pass_);
  std::vector<std::string> lines = {ShortenTo(header + "  " + FormatSeconds(now), columns)};
  if (nodes_.size() + 1 > rows) return lines;
  for (const auto& [name, node] : nodes_) {
    lines.push_back(FormatNode(MakePrintable(name), node, now, name_columns, columns));
  }
  return lines;
}

}  // namespace reconciler
