#include "reconciler/apply/steps/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Changes = std::vector<const Change*>;

// "exit 1: No space left on device", or what the time limit or a missing program looks like.
std::string ExplainFailure(const StepReply& reply, const Action& action) {
  if (const auto* command = std::get_if<RunCommand>(&action)) {
    if (reply.exit_code == 124) {
      return fmt::format("did not end within {} s", command->time_limit_s);
    }
    if (reply.exit_code == 127) return "is not installed";
  }
  const std::string evidence = FindLastLine(reply.err.empty() ? reply.out : reply.err);
  return fmt::format("exit {}{}{}", reply.exit_code, evidence.empty() ? "" : ": ", evidence);
}

// One node's share of one stage.
class NodeStage {
 public:
  NodeStage(const NodeSpec& node, Changes changes, NodeApply& result, const OnEvent& on_event)
      : node_(node), changes_(std::move(changes)), result_(result), on_event_(on_event) {}

  void Run(Sessions& sessions, std::string_view journal, std::size_t first_step) {
    const std::vector<Step> steps = ListSteps(changes_);
    auto reply = sessions.Run(node_, BuildActivateRequest(steps, first_step, journal),
                              ComputeApplyLimit(steps));
    if (!reply) {
      // Nothing came back, so nothing is known about any step: the next gather shows it.
      for (const Change* change : changes_)
        Set(*change, ChangeOutcome::kUnknown, "connection lost");
      result_.errors.push_back(std::move(reply).error());
      return;
    }
    Judge(steps, ParseApplyReply(*reply, sessions.Nonce(node_.name)));
  }

 private:
  void Judge(const std::vector<Step>& steps, const std::vector<StepReply>& replies) {
    for (const Change* change : changes_) result_.changes[change->Id()] = ChangeOutcome::kNotRun;
    bool failed = false;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      if (i >= replies.size()) {
        if (!failed) RecordFailure(step, "the node's shell ended early");
        return;
      }
      if (replies[i].exit_code != 0) {
        RecordFailure(step, ExplainFailure(replies[i], step.action));
        failed = true;
      } else if (step.change == Step::kTrigger) {
        on_event_({EventType::kTriggerDone, node_.name, Describe(step.action), ""});
      } else if (i + 1 == steps.size() || steps[i + 1].change != step.change) {
        ChangeOutcome& outcome = result_.changes[changes_[step.change]->Id()];
        if (outcome == ChangeOutcome::kNotRun)
          Set(*changes_[step.change], ChangeOutcome::kDone, "");
      }
    }
    if (failed) return;
    // What is done by the triggers alone is done when they are.
    for (const Change* change : changes_) {
      if (result_.changes[change->Id()] == ChangeOutcome::kNotRun) {
        Set(*change, ChangeOutcome::kDone, "");
      }
    }
  }

  void RecordFailure(const Step& step, const std::string& why) {
    Error error{.kind = ErrorKind::kApply,
                .message = Describe(step.action) + ": " + why,
                .context = {node_.name}};
    if (step.change != Step::kTrigger && !changes_[step.change]->where.file.empty()) {
      error.where = changes_[step.change]->where;
    }
    result_.errors.push_back(std::move(error));
    if (step.change == Step::kTrigger) {
      on_event_({EventType::kTriggerFailed, node_.name, Describe(step.action), why});
    } else {
      Set(*changes_[step.change], ChangeOutcome::kFailed, why);
    }
  }

  void Set(const Change& change, ChangeOutcome outcome, const std::string& why) {
    result_.changes[change.Id()] = outcome;
    const EventType type = outcome == ChangeOutcome::kDone     ? EventType::kChangeDone
                           : outcome == ChangeOutcome::kFailed ? EventType::kChangeFailed
                                                               : EventType::kChangeUnknown;
    on_event_({type, node_.name, change.kind + " " + change.name, why, change.plugin, change.kind,
               change.name});
  }

  const NodeSpec& node_;
  Changes changes_;
  NodeApply& result_;
  const OnEvent& on_event_;
};

struct NodeWork {
  const NodeSpec* node;
  Changes changes;
};

// Only what has something to do; nodes in manifest order, so that the canary is the first of them.
std::vector<NodeWork> CollectWork(const Stage& stage, const ClusterSpec& cluster) {
  std::vector<NodeWork> work;
  for (const NodeSpec& node : cluster.nodes) {
    Changes changes = ListWork(stage, node.name);
    if (!changes.empty()) work.push_back({&node, std::move(changes)});
  }
  return work;
}

const NodeWork& FindWork(const std::vector<NodeWork>& work, const NodeSpec& node) {
  return *std::find_if(work.begin(), work.end(),
                       [&](const NodeWork& item) { return item.node == &node; });
}

// What became of its steps is as unknown as after a lost connection.
void RecordThrown(const Error& error, const Changes& changes, NodeApply& result) {
  for (const Change* change : changes) {
    result.changes.emplace(change->Id(), ChangeOutcome::kUnknown);
  }
  result.errors.push_back(error);
}

bool FlipsLinks(const Stage& stage) {
  return std::any_of(stage.changes.begin(), stage.changes.end(), [](const Change& change) {
    return change.change != ChangeKind::kBlocked && change.impact == Impact::kLinkFlap;
  });
}

}  // namespace

std::vector<const Change*> ListWork(const Stage& stage, const NodeName& node) {
  Changes changes;
  for (const Change& change : stage.changes) {
    const bool runs = !change.actions.empty() || !change.triggers.empty();
    if (change.node == node && change.change != ChangeKind::kBlocked && !change.deferred && runs) {
      changes.push_back(&change);
    }
  }
  return changes;
}

bool ApplyReport::Ok() const {
  if (interrupted) return false;
  for (const auto& [name, node] : nodes) {
    if (!node.errors.empty()) return false;
  }
  return true;
}

ApplyReport Apply(const Plan& plan, const ClusterSpec& cluster, Sessions& sessions,
                  Journal& journal, const OnEvent& on_event, const ShouldStop& should_stop) {
  ApplyReport report;
  for (const Stage& stage : plan.stages) {
    if (should_stop && should_stop()) {
      report.interrupted = true;
      return report;
    }
    const std::vector<NodeWork> work = CollectWork(stage, cluster);
    for (const NodeWork& item : work) {  // before any thread runs: the maps do not grow any more
      report.nodes[item.node->name];
      journal.steps[item.node->name];
    }
    const auto run = [&](const NodeSpec& node) {
      const NodeWork& item = FindWork(work, node);
      on_event({.type = EventType::kStageStarted,
                .node = node.name,
                .subject = Join(stage.plugins, ", "),
                .plugins = stage.plugins});
      std::size_t& first_step = journal.steps.at(node.name);
      NodeStage(node, item.changes, report.nodes.at(node.name), on_event)
          .Run(sessions, journal.directory, first_step);
      first_step += ListSteps(item.changes).size();
    };
    // Both ends of a link change together.
    const std::size_t at_once = FlipsLinks(stage) ? 0 : sessions.at_once();
    const auto run_all = [&](const std::vector<const NodeSpec*>& nodes) {
      for (auto& [name, error] : ForEachNode(nodes, at_once, run)) {
        RecordThrown(error, FindWork(work, *cluster.FindNode(name)).changes, report.nodes.at(name));
      }
    };
    std::vector<const NodeSpec*> first;
    std::vector<const NodeSpec*> rest;
    for (const NodeWork& item : work) {
      const bool alone = &item == &work.front() && !FlipsLinks(stage);
      (alone ? first : rest).push_back(item.node);
    }
    run_all(first);
    if (report.Ok() && should_stop && should_stop()) report.interrupted = true;
    if (!report.Ok()) return report;
    run_all(rest);
    if (!report.Ok()) return report;
  }
  return report;
}

}  // namespace reconciler
