#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// Of a verification; what was skipped is not counted.
struct CheckCounts {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t not_measured = 0;
};

// How an apply ended that was committed on every node, or that had nothing to change.
struct ApplyEnd {
  std::size_t changes = 0;  // made, and read back
  std::size_t nodes = 0;    // that were changed
  double seconds = 0;
  int generation = 0;  // 0: none was recorded
  bool uninstall = false;
  std::vector<NodeName> absent = {};  // not reached, and not changed
  std::size_t blocked = 0;
  std::size_t beside = 0;  // differences that were not in the saved plan, which changed nothing
  std::size_t warnings = 0;
  std::string overridden = {};  // what wins over what is there now; empty: nothing
  std::optional<CheckCounts> checks = std::nullopt;  // nothing: no verification was run
  std::string undo = {};                             // a command; empty: there is none
};

// "2 other differences from the manifest were not in the plan and are left as they were".
std::string FormatBeside(std::size_t count);

// The last line of an apply; below it, what was not proved where nodes are absent:
// "Applied: 40 changes on 2 nodes in 5.8 s, generation 1, verified 42/42. Undo: …". Whatever is not
// as the manifest says stands at its start, in capitals: PARTIAL, BLOCKED, NOT VERIFIED, DRIFT,
// OVERRIDDEN.
std::string FormatApplyEnd(const ApplyEnd& end);

}  // namespace reconciler
