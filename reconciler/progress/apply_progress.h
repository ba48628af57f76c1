#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/plan.h"
#include "reconciler/progress/events.h"

namespace reconciler {

enum class ApplyPhase {
  kChecking,  // under the lock, before anything is changed
  kStaging,
  kChanging,
  kProving,
  kCommitting,
  kReverting,
  kDone,
  kReverted,
};

enum class LogLevel { kError, kInfo, kDetail, kTransport };  // kDetail: -v, kTransport: -vv

struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::string text = {};
};

// How far an apply of one plan is, by its events. Times are seconds since it began.
class ApplyProgress {
 public:
  explicit ApplyProgress(const Plan& plan);

  void BeginChanging() { phase_ = ApplyPhase::kStaging; }
  void Note(const Event& event, double at);

  // The event that was noted last, for a log: at most one line per change. nullopt: it says nothing
  // that a reader needs.
  std::optional<LogLine> FormatLogLine(const Event& event) const;

  // A header and a line per node, none wider than `columns`; the header alone where all are more
  // than `rows`.
  std::vector<std::string> Draw(double now, std::size_t columns, std::size_t rows) const;

 private:
  struct NodeState {
    std::size_t total = 0;     // changes
    std::size_t deferred = 0;  // of them, those of a later pass
    std::size_t done = 0;
    std::vector<std::string> kinds = {};  // of the stage that runs; empty: none does
    std::size_t stage_ends_at = 0;        // `done` at the end of that stage
    double since = 0;                     // the beginning of that stage
    std::string failure = {};
  };

  void BeginStage(const Event& event, double at);
  bool IsPassDone() const;
  std::string FormatNode(const NodeName& name, const NodeState& node, double now,
                         std::size_t name_columns, std::size_t columns) const;

  std::string cluster_;
  std::vector<Stage> stages_;
  std::map<NodeName, NodeState> nodes_ = {};                   // that have changes
  std::map<NodeName, std::map<std::string, bool>> done_ = {};  // by "kind name"
  ApplyPhase phase_ = ApplyPhase::kChecking;
  int pass_ = 1;
};

}  // namespace reconciler
