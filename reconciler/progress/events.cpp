#include "reconciler/progress/events.h"

namespace reconciler {

std::string_view ToString(EventType type) {
  switch (type) {
    case EventType::kStageStarted:
      return "stage-started";
    case EventType::kChangeDone:
      return "change-done";
    case EventType::kChangeFailed:
      return "change-failed";
    case EventType::kChangeUnknown:
      return "change-unknown";
    case EventType::kTriggerDone:
      return "trigger-done";
    case EventType::kTriggerFailed:
      return "trigger-failed";
    case EventType::kArmed:
      return "armed";
    case EventType::kReady:
      return "ready";
    case EventType::kPass:
      return "pass";
    case EventType::kConverged:
      return "converged";
    case EventType::kReverting:
      return "reverting";
    case EventType::kReverted:
      return "reverted";
    case EventType::kNote:
      return "note";
  }
  return "";
}

}  // namespace reconciler
