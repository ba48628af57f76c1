#include "reconciler/planning/dependents.h"

#include <fmt/format.h>

#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {
namespace {

using Changes = std::map<std::string, Change*>;  // by id

// Those that prune, or the others.
Changes IndexChanges(Plan& plan, bool prune) {
  Changes changes;
  for (Stage& stage : plan.stages) {
    for (Change& change : stage.changes) {
      if (change.prune == prune) changes.emplace(change.Id(), &change);
    }
  }
  return changes;
}

bool IsBlocked(const Change& change) { return change.change == ChangeKind::kBlocked; }

// nullptr: nothing that it needs is blocked. What is known only after another change of the apply
// never is where --only leaves that out.
const Change* FindMissingNeed(const Change& change, const std::vector<std::string>& needs,
                              const Changes& required, const std::vector<std::string>& only) {
  for (const std::string& id : needs) {
    const auto found = required.find(id);
    if (found == required.end()) continue;
    const bool is_left_out = change.deferred && !IsSelected(only, found->second->plugin);
    if (is_left_out || IsBlocked(*found->second)) return found->second;
  }
  return nullptr;
}

// The line of a cause that --only leaves out is not in the plan.
std::string ExplainNeed(const Change& cause, const std::vector<std::string>& only) {
  const bool is_blocked = IsBlocked(cause);
  std::string why =
      fmt::format("needs {} of {}, which {}", MakePrintable(cause.name), MakePrintable(cause.node),
                  is_blocked ? "is blocked" : "--only leaves out");
  if (!is_blocked) return why;
  if (!IsSelected(only, cause.plugin)) why += ": " + MakePrintable(cause.detail);
  return why;
}

// Whether any of `changes` was blocked.
bool BlockNeeding(const Needs& needs, const Changes& required, const Changes& changes,
                  const std::vector<std::string>& only) {
  bool blocked = false;
  for (const auto& [id, needed] : needs) {
    const auto found = changes.find(id);
    if (found == changes.end() || IsBlocked(*found->second)) continue;
    const Change* cause = FindMissingNeed(*found->second, needed, required, only);
    if (cause == nullptr) continue;
    Change& change = *found->second;
    Block(change, "plan-need-blocked", ExplainNeed(*cause, only));
    blocked = true;
  }
  return blocked;
}

using Links = std::map<std::pair<NodeName, std::string>, Change*>;  // by node and netdev

Links IndexLinks(const Changes& changes) {
  Links links;
  for (const auto& [id, change] : changes) {
    if (change->is_link) links.emplace(std::pair(change->node, change->name), change);
  }
  return links;
}

// Whether `port` was blocked, because `other` at the other end of its cable is.
bool BlockWithOtherEnd(const RailPort& port, const RailPort& other, const Links& links) {
  const auto link = links.find({port.node, port.netdev});
  const auto cause = links.find({other.node, other.netdev});
  if (link == links.end() || IsBlocked(*link->second)) return false;
  if (cause == links.end() || !IsBlocked(*cause->second)) return false;
  Change& change = *link->second;
  Block(change, "plan-other-end-blocked",
        fmt::format("{}'s {} at the other end is blocked", other.node, other.netdev));
  return true;
}

bool BlockOtherEnds(const std::vector<Segment>& segments, const Links& links) {
  bool blocked = false;
  for (const Segment& segment : segments) {
    if (!segment.IsCable()) continue;
    const RailPort& a = segment.ports.front();
    const RailPort& b = segment.ports.back();
    blocked |= BlockWithOtherEnd(a, b, links) || BlockWithOtherEnd(b, a, links);
  }
  return blocked;
}

}  // namespace

void BlockDependents(const Needs& needs, const std::vector<Segment>& segments, Plan& plan) {
  const Changes required = IndexChanges(plan, /*prune=*/false);
  const Changes prunes = IndexChanges(plan, /*prune=*/true);
  const Links links = IndexLinks(required);
  bool blocked = true;
  while (blocked) {  // each round blocks a change, so that it ends
    blocked = BlockOtherEnds(segments, links);
    blocked |= BlockNeeding(needs, required, required, plan.only);
  }
  BlockNeeding(needs, required, prunes, plan.only);  // nothing needs a prune
}

}  // namespace reconciler
