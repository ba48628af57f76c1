#include "reconciler/planning/nul_byte.h"

#include <algorithm>

namespace reconciler {
namespace {

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

bool HasNul(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return HasNul(std::string_view(text)); });
}

bool HasNul(const RunCommand& command) {
  return HasNul(command.argv) || HasNul(command.user) || HasNul(command.id) ||
         HasNul(command.sets) || HasNul(command.makes);
}

bool HasNul(const Trial& trial) { return HasNul(trial.path) || HasNul(trial.generator); }

bool HasNul(const Action& action) {
  struct Visitor {
    bool operator()(const WriteFile& write) const {
      const FileState& state = write.state;
      return HasNul(write.path) || HasNul(write.trial) || HasNul(state.content) ||
             HasNul(state.owner) || HasNul(state.group);
    }
    bool operator()(const RemoveFile& remove) const {
      return HasNul(remove.path) || HasNul(remove.trial);
    }
    bool operator()(const RunCommand& command) const { return HasNul(command); }
  };
  return std::visit(Visitor{}, action);
}

template <class T>
bool HasNulIn(const std::vector<T>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const T& step) { return HasNul(step); });
}

}  // namespace

bool HoldsNul(const Ledger& ledger) {
  return std::any_of(ledger.entries.begin(), ledger.entries.end(), [](const LedgerEntry& entry) {
    return HasNul(entry.kind) || HasNul(entry.name) || HasNulIn(entry.original) ||
           HasNulIn(entry.triggers) || HasNulIn(entry.again);
  });
}

void BlockIfNul(Change& change) {
  if (change.change == ChangeKind::kBlocked) return;
  const PruneCommands& prune = change.prune_commands;
  const bool holds = HasNul(change.name) || HasNulIn(change.actions) || HasNulIn(change.revert) ||
                     HasNulIn(change.triggers) || HasNulIn(prune.before) || HasNulIn(prune.after);
  if (!holds) return;
  Block(change, "plan-state-unknown", "unknown: what the node says of it holds a NUL byte");
  change.prune_commands = {};
}

}  // namespace reconciler
