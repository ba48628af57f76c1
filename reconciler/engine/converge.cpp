#include "reconciler/engine/converge.h"

#include <fmt/format.h>

#include <set>
#include <thread>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr int kMostPasses = 3;  // a key made in the first is used in the second

template <class Function>
void ForEachChange(const Plan& plan, Function function) {
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) function(change);
    }
  }
}

const Change* Find(const Plan& plan, const std::string& id) {
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.Id() == id) return &change;
    }
  }
  return nullptr;
}

std::set<std::string> DeferredIds(const Plan& plan) {
  std::set<std::string> ids;
  ForEachChange(plan, [&](const Change& change) {
    if (change.deferred) ids.insert(change.Id());
  });
  return ids;
}

bool OnlyAnnounced(const Plan& plan, const std::set<std::string>& announced) {
  bool only = true;
  ForEachChange(plan, [&](const Change& change) { only &= announced.contains(change.Id()); });
  return only;
}

// A link that is being configured can look unknown for a moment: what was not blocked before the
// apply is given time to become readable again.
bool NewlyBlocked(const Plan& before, const Plan& after) {
  for (const Stage& stage : after.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) continue;
      const Change* earlier = Find(before, change.Id());
      if (earlier == nullptr || earlier->change != ChangeKind::kBlocked) return true;
    }
  }
  return false;
}

// The plan without the changes that are none of its business.
Plan Without(Plan plan, const std::set<std::string>& beside) {
  if (beside.empty()) return plan;
  for (Stage& stage : plan.stages) {
    std::erase_if(stage.changes, [&](const Change& change) { return beside.contains(change.Id()); });
  }
  return plan;
}

void Merge(ApplyReport&& pass, ApplyReport& all) {
  all.interrupted |= pass.interrupted;
  for (auto& [name, node] : pass.nodes) {
    NodeApply& into = all.nodes[name];
    for (auto& [id, outcome] : node.changes) into.changes[id] = outcome;
    for (Error& error : node.errors) into.errors.push_back(std::move(error));
  }
}

Error StillDiffers(const Change& change) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("{} {} still differs after the apply: {}", change.kind,
                                 Printable(change.name), Printable(change.detail)),
          .where = change.where.file.empty() ? std::nullopt : std::optional(change.where),
          .context = {change.node},
          .hint = "somebody else may write it too; plan again to see it"};
}

}  // namespace

ConvergeReport Converge(const Plan& plan, const ClusterSpec& cluster, NodePool& pool,
                        const Replan& replan, const OnEvent& on_event,
                        const ConvergeOptions& options) {
  ConvergeReport report;
  const std::set<std::string> announced = DeferredIds(plan);
  Plan next = plan;
  for (int pass = 1; pass <= kMostPasses; ++pass) {
    if (pass > 1) on_event({EventType::kPass, "", fmt::format("pass {}", pass), ""});
    Merge(Apply(next, cluster, pool, on_event, options.should_stop), report.applied);
    if (!report.applied.Ok()) break;
    for (int reading = 0; reading < options.readings; ++reading) {
      if (reading > 0) std::this_thread::sleep_for(options.between_readings);
      auto fresh = replan();
      if (!fresh) {
        report.errors.push_back(std::move(fresh).error());
        return report;
      }
      report.remaining = Without(std::move(*fresh), options.beside);
      const bool settled = !NewlyBlocked(plan, report.remaining);
      if (settled && OnlyAnnounced(report.remaining, announced)) break;
    }
    if (report.remaining.Empty()) {
      report.converged = true;
      on_event({EventType::kConverged, "", "", ""});
      return report;
    }
    if (!OnlyAnnounced(report.remaining, announced)) break;
    next = report.remaining;
  }
  if (report.applied.Ok()) {
    ForEachChange(report.remaining,
                  [&](const Change& change) { report.errors.push_back(StillDiffers(change)); });
  }
  return report;
}

std::set<std::string> IdsBeside(const Plan& saved, const Plan& fresh) {
  std::set<std::string> ids;
  ForEachChange(fresh, [&](const Change& change) {
    if (Find(saved, change.Id()) == nullptr) ids.insert(change.Id());
  });
  return ids;
}

Errors FindStale(const Plan& saved, const Plan& fresh) {
  Errors errors;
  const auto stale = [&](const Change& change, std::string now) {
    errors.push_back({.kind = ErrorKind::kStale,
                      .message = fmt::format("{} {} moved since the plan was made: planned '{}', {}",
                                             change.kind, Printable(change.name),
                                             Printable(change.detail), Printable(now)),
                      .context = {change.node}});
  };
  if (saved.spec_digest != fresh.spec_digest) {
    errors.push_back({.kind = ErrorKind::kStale,
                      .message = fmt::format("{} changed since the plan was made", fresh.manifest)});
  }
  ForEachChange(saved, [&](const Change& change) {
    const Change* now = Find(fresh, change.Id());
    if (now == nullptr) {
      stale(change, "now it is as the manifest wants it");
    } else if (now->fingerprint != change.fingerprint) {
      stale(change, fmt::format("now '{}'", now->detail));
    } else if (now->change == ChangeKind::kBlocked) {
      stale(change, fmt::format("now blocked: {}", now->detail));
    } else if (now->actions != change.actions || now->triggers != change.triggers) {
      stale(change, "now other steps are needed");
    }
  });
  if (!errors.empty()) errors.back().hint = "make a new plan and look at it again";
  return errors;
}

}  // namespace reconciler
