#include "reconciler/planning/plan_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/model/find.h"
#include "reconciler/model/json/json.h"

namespace reconciler {

std::set<std::string> ListDeferredIds(const Plan& plan) {
  std::set<std::string> ids;
  ForEachChange(plan, [&](const Change& change) {
    if (change.deferred) ids.insert(change.Id());
  });
  return ids;
}

bool HasOnlyAnnounced(const Plan& plan, const std::set<std::string>& announced) {
  bool only = true;
  ForEachChange(plan, [&](const Change& change) { only &= announced.contains(change.Id()); });
  return only;
}

Plan RemoveChanges(Plan plan, const std::set<std::string>& ids) {
  if (ids.empty()) return plan;
  for (Stage& stage : plan.stages) {
    std::erase_if(stage.changes, [&](const Change& change) { return ids.contains(change.Id()); });
  }
  return plan;
}

Plan RemoveDropped(Plan plan) {
  std::set<std::string> ids;
  for (const PlanNode& node : plan.nodes) {
    for (const std::string& id : node.dropped) ids.insert(fmt::format("{}/{}", node.name, id));
  }
  return RemoveChanges(std::move(plan), ids);
}

Plan LimitToNode(Plan plan, const NodeName& node) {
  for (Stage& stage : plan.stages) {
    std::erase_if(stage.changes, [&](const Change& change) { return change.node != node; });
  }
  return plan;
}

const Change* FindChange(const Plan& plan, const std::string& id) {
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.Id() == id) return &change;
    }
  }
  return nullptr;
}

bool IsKept(const Change& change) {
  const auto is_command = [](const Action& action) {
    return std::holds_alternative<RunCommand>(action);
  };
  return change.revert.empty() && !change.actions.empty() &&
         std::all_of(change.actions.begin(), change.actions.end(), is_command);
}

namespace {

bool IsUnreachable(const Plan& plan, const NodeName& name) {
  const PlanNode* node = FindNode(plan, name);
  return node != nullptr && !node->unreachable.empty();
}

// The same problem, whatever its values are by now.
bool HasDiagnostic(const Plan& plan, const Diagnostic& wanted, const NodeName& node) {
  return std::any_of(plan.diagnostics.begin(), plan.diagnostics.end(), [&](const Diagnostic& one) {
    return one.severity == wanted.severity && one.code == wanted.code &&
           one.subject == wanted.subject &&
           std::find(one.nodes.begin(), one.nodes.end(), node) != one.nodes.end();
  });
}

}  // namespace

bool HasChanges(const Plan& plan, const NodeName& node) {
  bool changes = false;
  ForEachChange(plan, [&](const Change& change) { changes |= change.node == node; });
  return changes;
}

bool HasNewProblem(const Plan& before, const Plan& after) {
  for (const Diagnostic& one : after.diagnostics) {
    if (one.severity == Severity::kInforms || !one.change.empty()) continue;
    for (const NodeName& node : one.nodes) {
      if (!HasDiagnostic(before, one, node)) return true;
    }
  }
  for (const Stage& stage : after.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) continue;
      const Change* earlier = FindChange(before, change.Id());
      if (earlier == nullptr || earlier->change != ChangeKind::kBlocked) return true;
    }
  }
  return false;
}

bool IsUnreadable(const Change& change) { return change.code == "plan-state-unknown"; }

std::string ExplainUnreadable(const Change& change) {
  constexpr std::string_view kUnknown = "unknown: ";
  return MakePrintable(change.detail.starts_with(kUnknown) ? change.detail.substr(kUnknown.size())
                                                           : change.detail);
}

std::vector<const Change*> ListBlockedSince(const Plan& before, const Plan& after) {
  std::vector<const Change*> blocked;
  for (const Stage& stage : after.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) continue;
      const Change* due = FindChange(before, change.Id());
      const bool was_due = due != nullptr && due->change != ChangeKind::kBlocked;
      if (was_due) blocked.push_back(&change);
    }
  }
  return blocked;
}

Errors FindNotReverted(const Plan& before, const Plan& fresh) {
  Errors errors;
  const auto add = [&](const NodeName& node, std::string message) {
    errors.push_back(MakeNodeError(ErrorKind::kApply, node, std::move(message)));
  };
  const auto differs = [&](const Change& change, const std::string& now) {
    add(change.node, fmt::format("{} {} is not as it was before: {}", change.kind,
                                 MakePrintable(change.name), MakePrintable(now)));
  };
  // Of a node that was not read nothing else can be said.
  for (const PlanNode& node : fresh.nodes) {
    if (node.unreachable.empty() || !HasChanges(before, node.name)) continue;
    add(node.name, "could not be read, so that nothing is known of its state: " +
                       MakePrintable(node.unreachable));
  }
  ForEachChange(before, [&](const Change& change) {
    if (IsKept(change) || IsUnreachable(fresh, change.node)) return;
    const Change* now = FindChange(fresh, change.Id());
    if (now == nullptr) {
      differs(change, "it matches the manifest");
    } else if (now->fingerprint == change.fingerprint) {
      return;
    } else if (IsUnreadable(*now)) {
      add(change.node,
          fmt::format("{} {} could not be read, so that its state is not known: {}", change.kind,
                      MakePrintable(change.name), ExplainUnreadable(*now)));
    } else {
      differs(change, now->detail);
    }
  });
  ForEachChange(fresh, [&](const Change& change) {
    if (FindChange(before, change.Id()) == nullptr) differs(change, change.detail);
  });
  return errors;
}

namespace {

// Of those that are carried out: a blocked one selects nothing.
std::set<std::string> ListIds(const Plan& plan) {
  std::set<std::string> ids;
  ForEachChange(plan, [&](const Change& change) { ids.insert(change.Id()); });
  return ids;
}

}  // namespace

std::set<std::string> FindIdsBeside(const Plan& saved, const Plan& fresh) {
  const std::set<std::string> selected = ListIds(saved);
  std::set<std::string> ids;
  ForEachChange(fresh, [&](const Change& change) {
    if (std::string id = change.Id(); !selected.contains(id)) ids.insert(std::move(id));
  });
  return ids;
}

namespace {

// A document of the program, or the first part of one: a manifest may be JSON too, or YAML in
// braces, but has no `format`.
bool IsDocument(std::string_view text) {
  if (!text.starts_with('{')) return false;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_discarded()) return json.contains("format");
  const std::size_t key = text.find_first_not_of(" \t\r\n", 1);
  return key != std::string_view::npos && text.substr(key).starts_with("\"format\"");
}

}  // namespace

Result<std::optional<Plan>> ParseSavedPlan(const std::string& text, const std::string& file) {
  if (!IsDocument(text)) return std::nullopt;
  auto plan = ParsePlan(text);
  if (!plan) return Fail(AddContext(std::move(plan).error(), file));
  if (plan->id != ComputePlanDigest(*plan)) {
    return Fail(
        {.kind = ErrorKind::kInput,
         .message =
             file + ": was edited after it was made: its id is not the digest of its content",
         .hint = "make a new plan with `plan --out`"});
  }
  return std::move(*plan);
}

Result<void> CheckPermitted(const Plan& saved, const std::string& file, const Permitted& given) {
  if (saved.uninstall) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = file + ": is the plan of an uninstall, which apply does not carry out",
                 .hint = "use `uninstall`, which plans again"});
  }
  if (saved.overwrite_edited && !given.overwrite_edited) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = file +
                            ": was made with --overwrite-edited: it may write files again that "
                            "were edited on a node",
                 .hint = "give apply --overwrite-edited too, or make a new plan without it"});
  }
  if (!saved.allow_half_cables || given.half_cables) return {};
  return Fail({.kind = ErrorKind::kUsage,
               .message = file +
                          ": was made with --allow-half-cables: it may change one end of a cable "
                          "whose other end cannot be changed with it",
               .hint = "give apply --allow-half-cables too, or make a new plan without it"});
}

PlanScope MakeScope(const Plan& saved) {
  PlanScope scope{.only = saved.only,
                  .overwrite_edited = saved.overwrite_edited,
                  .allow_half_cables = saved.allow_half_cables};
  for (const PlanNode& node : saved.nodes) scope.nodes.push_back(node.name);
  return scope;
}

Plan SelectChanges(Plan fresh, const Plan& saved) {
  const std::set<std::string> beside = FindIdsBeside(saved, fresh);
  fresh = RemoveChanges(std::move(fresh), beside);
  std::erase_if(fresh.stages, [](const Stage& stage) { return stage.changes.empty(); });
  for (PlanNode& node : fresh.nodes) {
    const PlanNode* then = FindNode(saved, node.name);
    std::erase_if(node.dropped, [&](const std::string& id) {
      return then == nullptr ||
             std::find(then->dropped.begin(), then->dropped.end(), id) == then->dropped.end();
    });
  }
  fresh.id = saved.id;
  return fresh;
}

namespace {

constexpr const char* kPlanAgain = "make a new plan and review it";

using ChangesById = std::map<std::string, const Change*>;

ChangesById IndexChanges(const Plan& plan) {
  ChangesById changes;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) changes.emplace(change.Id(), &change);
  }
  return changes;
}

const Change* FindIn(const ChangesById& changes, const Change& change) {
  const auto found = changes.find(change.Id());
  return found == changes.end() ? nullptr : found->second;
}

// The fields in which two changes differ, named as in the plan's JSON, which holds all of them.
// Jobs come and go: what a change interrupts is looked at for itself, by what runs at the time.
std::vector<std::string> ListDifferentFields(const Change& saved, const Change& fresh) {
  constexpr const char* kLeftOut = "interrupts";
  std::vector<std::string> fields;
  if (saved == fresh) return fields;
  nlohmann::ordered_json then = ToJson(saved);
  nlohmann::ordered_json now = ToJson(fresh);
  then.erase(kLeftOut);
  now.erase(kLeftOut);
  for (const auto& [field, value] : then.items()) {
    if (!now.contains(field) || now.at(field) != value) fields.push_back(field);
  }
  for (const auto& [field, value] : now.items()) {
    if (!then.contains(field)) fields.push_back(field);
  }
  return fields;
}

// Why a change of a saved plan is not the fresh plan's; empty: it is.
std::string ExplainStale(const Change& saved, const Change* now) {
  const auto moved = [&](const std::string& is) {
    return fmt::format("{} {} moved since the plan was made: planned '{}', {}", saved.kind,
                       MakePrintable(saved.name), MakePrintable(saved.detail), MakePrintable(is));
  };
  if (now == nullptr) return moved("now it matches the manifest");
  if (now->fingerprint != saved.fingerprint) {
    return moved(now->detail == saved.detail
                     ? "now the same, but from another state than the one that was reviewed"
                     : fmt::format("now '{}'", now->detail));
  }
  if (now->change == ChangeKind::kBlocked && saved.change != ChangeKind::kBlocked) {
    return moved(fmt::format("now blocked: {}", now->detail));
  }
  const std::vector<std::string> fields = ListDifferentFields(saved, *now);
  if (fields.empty()) return {};
  return fmt::format("{} {} differs from what is planned now in {}", saved.kind,
                     MakePrintable(saved.name), Join(fields, ", "));
}

// The manifest may have another path now: the lines in it are what counts.
Plan RenameManifest(Plan plan, const std::string& manifest) {
  for (Stage& stage : plan.stages) {
    for (Change& change : stage.changes) {
      if (change.where.file == plan.manifest) change.where.file = manifest;
    }
  }
  plan.manifest = manifest;
  return plan;
}

bool IsCarriedOut(const Plan& saved, const ChangesById& fresh) {
  bool left = false;
  ForEachChange(saved, [&](const Change& change) { left |= FindIn(fresh, change) != nullptr; });
  return !left;
}

Errors FindOtherGenerations(const Plan& saved, const Plan& fresh) {
  Errors errors;
  for (const PlanNode& then : saved.nodes) {
    for (const PlanNode& now : fresh.nodes) {
      const bool same = then.generation == now.generation || !now.unreachable.empty();
      if (then.name != now.name || same || !HasChanges(saved, now.name)) continue;
      errors.push_back(
          {.kind = ErrorKind::kStale,
           .message = fmt::format("applied to since the plan was made: generation {} then, {} now",
                                  then.generation, now.generation),
           .context = {now.name}});
    }
  }
  return errors;
}

Error MakeOtherManifestError(const std::string& manifest) {
  return {.kind = ErrorKind::kStale,
          .message = fmt::format("{} changed since the plan was made", manifest)};
}

Errors FindOtherInputs(const Plan& saved, const Plan& fresh) {
  Errors errors;
  if (saved.spec_digest != fresh.spec_digest) {
    errors.push_back(MakeOtherManifestError(fresh.manifest));
  }
  for (const PlanNode& node : fresh.nodes) {
    if (node.unreachable.empty() || !HasChanges(saved, node.name)) continue;
    errors.push_back({.kind = ErrorKind::kStale,
                      .message = "cannot be read now: " + MakePrintable(node.unreachable),
                      .context = {node.name}});
  }
  for (const PlanNode& then : saved.nodes) {
    const PlanNode* now = FindNode(fresh, then.name);
    if (then.unreachable.empty() || now == nullptr || !now->unreachable.empty()) continue;
    errors.push_back(
        {.kind = ErrorKind::kStale,
         .message = "was not read when the plan was made: " + MakePrintable(then.unreachable),
         .context = {then.name}});
  }
  return errors;
}

}  // namespace

Errors FindStale(const Plan& saved, const Plan& fresh) {
  Errors errors = FindOtherInputs(saved, fresh);
  const ChangesById changes = IndexChanges(fresh);
  if (errors.empty() && !saved.Empty() && IsCarriedOut(saved, changes)) {
    return {{.kind = ErrorKind::kStale,
             .message = "nothing is left of this plan: all of it matches the manifest",
             .hint = "it was applied already, or the same was done by hand"}};
  }
  for (Error& error : FindOtherGenerations(saved, fresh)) errors.push_back(std::move(error));
  const Plan planned = RenameManifest(saved, fresh.manifest);
  for (const Stage& stage : planned.stages) {
    for (const Change& change : stage.changes) {
      if (IsUnreachable(fresh, change.node)) continue;  // said above
      std::string why = ExplainStale(change, FindIn(changes, change));
      if (why.empty()) continue;
      errors.push_back(
          {.kind = ErrorKind::kStale, .message = std::move(why), .context = {change.node}});
    }
  }
  if (!errors.empty()) errors.back().hint = kPlanAgain;
  return errors;
}

Result<void> CheckSameManifest(const Plan& saved, const ClusterSpec& cluster) {
  if (saved.spec_digest == cluster.digest) return {};
  Error error = MakeOtherManifestError(cluster.file);
  error.hint = kPlanAgain;
  return Fail(std::move(error));
}

Errors FindMoved(Plan approved, const Plan& now) {
  for (Stage& stage : approved.stages) {
    std::erase_if(stage.changes,
                  [](const Change& change) { return change.change == ChangeKind::kBlocked; });
  }
  return FindStale(approved, now);
}

std::vector<std::string> ListInterruptions(const Plan& plan) {
  std::set<std::string> lines;
  ForEachChange(plan, [&](const Change& change) {
    if (!change.interrupts.empty()) {
      lines.insert(
          fmt::format("{}: {}", MakePrintable(change.node), MakePrintable(change.interrupts)));
    }
  });
  return {lines.begin(), lines.end()};
}

}  // namespace reconciler
