#include "reconciler/engine/converge.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr int kMostPasses = 3;      // a key made in the first is used in the second
constexpr int kMostReadings = 6;    // of one pass
constexpr std::chrono::milliseconds kBetweenReadings{700};

template <class Function>
void ForEachChange(const Plan& plan, Function function) {
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.change != ChangeKind::kBlocked) function(change);
    }
  }
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

const Change* Find(const Plan& plan, const std::string& id) {
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      if (change.Id() == id) return &change;
    }
  }
  return nullptr;
}

}  // namespace

ConvergeReport Converge(const Plan& plan, const ClusterSpec& cluster, NodePool& pool,
                        const Replan& replan, const OnEvent& on_event,
                        const ShouldStop& should_stop) {
  ConvergeReport report;
  const std::set<std::string> announced = DeferredIds(plan);
  Plan next = plan;
  for (int pass = 1; pass <= kMostPasses; ++pass) {
    if (pass > 1) on_event({EventType::kPass, "", fmt::format("pass {}", pass), ""});
    Merge(Apply(next, cluster, pool, on_event, should_stop), report.applied);
    if (!report.applied.Ok()) break;
    for (int reading = 0; reading < kMostReadings; ++reading) {
      if (reading > 0) std::this_thread::sleep_for(kBetweenReadings);
      auto fresh = replan();
      if (!fresh) {
        report.errors.push_back(std::move(fresh).error());
        return report;
      }
      report.remaining = std::move(*fresh);
      if (OnlyAnnounced(report.remaining, announced)) break;
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
