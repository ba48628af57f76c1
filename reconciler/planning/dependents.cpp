#include "reconciler/planning/dependents.h"

#include <fmt/format.h>

#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {
namespace {

using RequiredChanges = std::map<std::string, Change*>;

RequiredChanges IndexRequired(Plan& plan) {
  RequiredChanges changes;
  for (Stage& stage : plan.stages) {
    for (Change& change : stage.changes) {
      if (!change.prune) changes.emplace(change.Id(), &change);
    }
  }
  return changes;
}

bool IsBlocked(const Change& change) { return change.change == ChangeKind::kBlocked; }

// nullptr: nothing that it needs is blocked.
const Change* FindBlockedNeed(const std::vector<std::string>& needs,
                              const RequiredChanges& changes) {
  for (const std::string& id : needs) {
    const auto found = changes.find(id);
    if (found != changes.end() && IsBlocked(*found->second)) return found->second;
  }
  return nullptr;
}

// The line of a cause that --only leaves out is not in the plan.
std::string ExplainNeed(const Change& cause, const std::vector<std::string>& only) {
  std::string why = fmt::format("needs {} of {}, which is blocked", MakePrintable(cause.name),
                                MakePrintable(cause.node));
  if (!IsSelected(only, cause.plugin)) why += ": " + MakePrintable(cause.detail);
  return why;
}

// Whether any change was blocked.
bool BlockNeeding(const Needs& needs, const RequiredChanges& changes,
                  const std::vector<std::string>& only) {
  bool blocked = false;
  for (const auto& [id, needed] : needs) {
    const auto found = changes.find(id);
    if (found == changes.end() || IsBlocked(*found->second)) continue;
    const Change* cause = FindBlockedNeed(needed, changes);
    if (cause == nullptr) continue;
    Change& change = *found->second;
    Block(change, "plan-need-blocked", ExplainNeed(*cause, only));
    blocked = true;
  }
  return blocked;
}

using Links = std::map<std::pair<NodeName, std::string>, Change*>;  // by node and netdev

Links IndexLinks(const RequiredChanges& changes) {
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
  const RequiredChanges changes = IndexRequired(plan);
  const Links links = IndexLinks(changes);
  bool blocked = true;
  while (blocked) {  // each round blocks a change, so that it ends
    blocked = BlockOtherEnds(segments, links);
    blocked |= BlockNeeding(needs, changes, plan.only);
  }
}

}  // namespace reconciler
