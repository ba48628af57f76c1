#include "reconciler/progress/apply_end.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::size_t CountChecks(const CheckCounts& checks) {
  return checks.passed + checks.failed + checks.not_measured;
}

// "3 of 42 checks failed"; empty: all passed.
std::string FormatFailedChecks(const CheckCounts& checks) {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view how) {
    if (count > 0)
      parts.push_back(fmt::format("{} of {} checks {}", count, CountChecks(checks), how));
  };
  add(checks.failed, "failed");
  add(checks.not_measured, "could not be measured");
  return Join(parts, ", ");
}

std::string ChooseHeadline(const ApplyEnd& end, bool verification_failed) {
  if (!end.absent.empty()) return "PARTIAL";
  if (end.blocked > 0) return "BLOCKED";
  if (verification_failed) return "NOT VERIFIED";
  if (end.beside > 0) return "DRIFT";
  if (end.changes == 0 && !end.overridden.empty()) return "OVERRIDDEN";
  return end.changes == 0 ? "No changes" : end.uninstall ? "Uninstalled" : "Applied";
}

// What is not as the manifest says; empty: nothing.
std::vector<std::string> ListShortcomings(const ApplyEnd& end, const std::string& failed) {
  std::vector<std::string> parts;
  if (!end.absent.empty()) {
    parts.push_back("not reached, and not changed: " + Join(end.absent, ", "));
  }
  if (end.blocked > 0) {
    parts.push_back(FormatPlural(end.blocked, "change is", "changes are") + " blocked");
  }
  if (!failed.empty()) parts.push_back(failed);
  if (end.beside > 0) parts.push_back(FormatBeside(end.beside));
  if (!end.overridden.empty()) parts.push_back(end.overridden);
  return parts;
}

std::string FormatDone(const ApplyEnd& end) {
  std::vector<std::string> parts;
  if (end.changes > 0) {
    parts.push_back(fmt::format("{} on {} in {:.1f} s",
                                FormatPlural(end.changes, "change", "changes"),
                                FormatPlural(end.nodes, "node", "nodes"), end.seconds));
  } else {
    parts.emplace_back("nothing was changed");
  }
  if (end.generation > 0) parts.push_back(fmt::format("generation {}", end.generation));
  if (end.checks) {
    parts.push_back(fmt::format("verified {}/{}", end.checks->passed, CountChecks(*end.checks)));
  } else if (!end.uninstall) {
    parts.emplace_back("not verified");
  }
  return Join(parts, ", ");
}

}  // namespace

std::string FormatBeside(std::size_t count) {
  return fmt::format("{} from the manifest {}",
                     FormatPlural(count, "other difference", "other differences"),
                     count == 1 ? "was not in the plan and is left as it was"
                                : "were not in the plan and are left as they were");
}

std::string FormatApplyEnd(const ApplyEnd& end) {
  const std::string failed = end.checks ? FormatFailedChecks(*end.checks) : "";
  const std::vector<std::string> shortcomings = ListShortcomings(end, failed);
  std::string text = ChooseHeadline(end, !failed.empty());
  if (end.warnings > 0) {
    text += fmt::format(", with {}", FormatPlural(end.warnings, "warning", "warnings"));
  }
  text += ": ";
  if (!shortcomings.empty()) {
    text += Join(shortcomings, "; ") + (end.changes > 0 ? "; applied: " : "; ");
  }
  text += FormatDone(end) + ".";
  if (!end.undo.empty()) text += " Undo: " + end.undo;
  text += '\n';
  if (!end.absent.empty()) {
    text +=
        "  not proved: the state there, the connections to there, and the manifest's verification, "
        "which needs every node\n";
  }
  return text;
}

}  // namespace reconciler
