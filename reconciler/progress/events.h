#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

enum class EventType {
  kStageStarted,  // node: first the canary, then the others
  kChangeDone,
  kChangeFailed,
  kChangeUnknown,  // the connection was lost while it ran
  kTriggerDone,
  kTriggerFailed,
  kArmed,      // every node has its bytes and would revert the plan on its own
  kReady,      // every node has said that it is ready to commit
  kPass,       // another round of gather, plan and apply for what is known only now
  kConverged,  // gathered again: nothing differs
  kReverting,  // something failed: every node reverts the plan
  kReverted,   // gathered again: every node is as it was
  kNote,       // what a node kept elsewhere or lost, whether it committed or reverted
};

// One line of progress. `subject` is a change ("kind name"), a command or a stage, for a person;
// `detail` says why.
struct Event {
  EventType type = EventType::kStageStarted;
  NodeName node = {};
  std::string subject = {};
  std::string detail = {};
  std::string plugin = {};                // of a change
  std::string kind = {};                  // of a change's resource
  std::string name = {};                  // likewise
  std::vector<std::string> plugins = {};  // of a stage
  std::string apply_id = {};              // set by Converge
};

// May be called from several threads at once.
using OnEvent = std::function<void(const Event&)>;

std::string_view ToString(EventType type);  // "change-done"

}  // namespace reconciler
