#include "reconciler/model/ledger.h"

#include <algorithm>

namespace reconciler {

const Action* FindFileAction(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    if (!std::holds_alternative<RunCommand>(action)) return &action;
  }
  return nullptr;
}

const LedgerEntry* Ledger::Find(std::string_view id) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const LedgerEntry& entry) { return entry.Id() == id; });
  return found == entries.end() ? nullptr : &*found;
}

std::string FormatOwnedList(const Ledger& ledger) {
  std::string text;
  for (const LedgerEntry& entry : ledger.entries) {
    if (FindFileAction(entry.original) != nullptr) text += entry.name + '\n';
  }
  return text;
}

}  // namespace reconciler
