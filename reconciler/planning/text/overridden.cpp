#include "reconciler/planning/text/overridden.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "reconciler/base/text.h"
#include "schema/embedded.h"

namespace reconciler {
namespace {

// "now", "later"; empty: it overrides nothing, or what it blocks is no difference that holds.
std::string_view FindOverride(const Diagnostic& diagnostic) {
  const bool warns = diagnostic.severity == Severity::kWarns && diagnostic.change.empty();
  return warns ? FindEmbeddedOverride(diagnostic.code) : std::string_view();
}

std::string_view FormatWhen(bool now, bool later) {
  if (!later) return "now";
  return now ? "now or at the next boot or re-plug" : "at the next boot or re-plug";
}

}  // namespace

bool IsOverridden(const Plan& plan, const NodeName& node) {
  return std::any_of(plan.diagnostics.begin(), plan.diagnostics.end(), [&](const Diagnostic& one) {
    return !FindOverride(one).empty() &&
           std::find(one.nodes.begin(), one.nodes.end(), node) != one.nodes.end();
  });
}

std::string FormatOverridden(const Plan& plan) {
  std::size_t things = 0;
  std::set<NodeName> nodes;
  std::set<std::string_view> when;
  for (const Diagnostic& one : plan.diagnostics) {
    const std::string_view found = FindOverride(one);
    if (found.empty()) continue;
    things += one.nodes.size();
    nodes.insert(one.nodes.begin(), one.nodes.end());
    when.insert(found);
  }
  if (things == 0) return {};
  return fmt::format("{} on {} {} over the manifest {}", FormatPlural(things, "thing", "things"),
                     FormatPlural(nodes.size(), "node", "nodes"), things == 1 ? "wins" : "win",
                     FormatWhen(when.contains("now"), when.contains("later")));
}

}  // namespace reconciler
