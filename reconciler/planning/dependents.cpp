#include "reconciler/planning/dependents.h"

#include <fmt/format.h>

#include <algorithm>
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

// What is known only after another change of the apply never is where --only leaves that out.
bool StaysAway(const Change& need, const Change& change, const std::vector<std::string>& only) {
  return IsBlocked(need) || (change.deferred && !IsSelected(only, need.plugin));
}

// nullptr: nothing that it needs stays away.
const Change* FindMissingNeed(const Change& change, const std::vector<std::string>& needs,
                              const Changes& required, const std::vector<std::string>& only) {
  for (const std::string& id : needs) {
    const auto found = required.find(id);
    if (found != required.end() && StaysAway(*found->second, change, only)) return found->second;
  }
  return nullptr;
}

// What is given to BlockDependents beside the changes.
struct Rules {
  const Needs& needs;
  const std::vector<std::string>& only;
  const std::set<std::string>& hold_otherwise;
};

// Whether it is as it shall be, since nothing that it needs is carried out.
bool Holds(const Change& change, const Changes& required, const Rules& rules) {
  const auto needed = rules.needs.find(change.Id());
  if (needed == rules.needs.end() || !rules.hold_otherwise.contains(change.Id())) return false;
  return std::all_of(needed->second.begin(), needed->second.end(), [&](const std::string& id) {
    const auto found = required.find(id);
    return found == required.end() || StaysAway(*found->second, change, rules.only);
  });
}

void RemoveHolding(const Changes& required, const Rules& rules, Plan& plan) {
  std::set<std::string> ids;  // listed before `required` loses what it points to
  for (const auto& [id, change] : required) {
    if (Holds(*change, required, rules)) ids.insert(id);
  }
  for (Stage& stage : plan.stages) {
    std::erase_if(stage.changes,
                  [&](const Change& change) { return !change.prune && ids.contains(change.Id()); });
  }
  std::erase_if(plan.stages, [](const Stage& stage) { return stage.changes.empty(); });
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
bool BlockNeeding(const Changes& required, const Changes& changes, const Rules& rules) {
  bool blocked = false;
  for (const auto& [id, needed] : rules.needs) {
    const auto found = changes.find(id);
    if (found == changes.end() || IsBlocked(*found->second)) continue;
    const Change* cause = FindMissingNeed(*found->second, needed, required, rules.only);
    if (cause == nullptr || Holds(*found->second, required, rules)) continue;
    Change& change = *found->second;
    Block(change, "plan-need-blocked", ExplainNeed(*cause, rules.only));
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

void BlockDependents(const Needs& needs, const std::vector<Segment>& segments, Plan& plan,
                     const std::set<std::string>& hold_otherwise) {
  const Rules rules{needs, plan.only, hold_otherwise};
  const Changes required = IndexChanges(plan, /*prune=*/false);
  const Changes prunes = IndexChanges(plan, /*prune=*/true);
  const Links links = IndexLinks(required);
  bool blocked = true;
  while (blocked) {  // each round blocks a change, so that it ends
    blocked = BlockOtherEnds(segments, links);
    blocked |= BlockNeeding(required, required, rules);
  }
  BlockNeeding(required, prunes, rules);  // nothing needs a prune
  RemoveHolding(required, rules, plan);
}

}  // namespace reconciler
