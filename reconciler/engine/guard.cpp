#include "reconciler/engine/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/engine/apply_script.h"
#include "reconciler/engine/frames.h"
#include "reconciler/engine/guard_script.h"

namespace reconciler {
namespace {

constexpr Milliseconds kScriptLimit{30000};
constexpr Milliseconds kRevertLimit{180000};  // netplan and services take their time
constexpr std::chrono::seconds kBetweenTries{3};

Error NodeError(const NodeName& node, const std::string& what, const ScriptReply& reply) {
  const std::vector<std::string> lines = SplitLines(std::string(Trim(reply.err)));
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("{}: exit {}{}", what, reply.exit_code,
                                 lines.empty() ? "" : ": " + Printable(lines.back())),
          .context = {node}};
}

}  // namespace

std::vector<const NodeSpec*> Guard::Nodes() const {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    if (stages_.contains(node.name)) nodes.push_back(&node);
  }
  return nodes;
}

Errors Guard::OnEveryNode(const std::string& what,
                          const std::function<std::string(const NodeName&)>& script) {
  Errors errors;
  std::mutex mutex;
  ForEachNode(Nodes(), [&](const NodeSpec& node) {
    const std::string text = ScriptPreamble(MakeNonce()) + script(node.name);
    const auto reply = pool_.Run(node, text, kScriptLimit);
    if (reply && reply->exit_code == 0) return;
    const std::lock_guard lock(mutex);
    errors.push_back(reply ? NodeError(node.name, what, *reply) : reply.error());
  });
  return errors;
}

Result<std::vector<std::string>> TakeBackLeftovers(const std::vector<const NodeSpec*>& nodes,
                                                   NodePool& pool) {
  std::vector<std::string> told;
  Errors errors;
  std::mutex mutex;
  const std::string script = ScriptPreamble(MakeNonce()) + LeftoversScript();
  ForEachNode(nodes, [&](const NodeSpec& node) {
    const auto reply = pool.Run(node, script, kRevertLimit);
    const std::lock_guard lock(mutex);
    if (!reply || reply->exit_code != 0) {
      errors.push_back(
          reply ? NodeError(node.name, "an earlier apply could not be taken back", *reply)
                : reply.error());
    } else if (!reply->out.empty()) {
      told.push_back(fmt::format("{}: an earlier apply was cut off and is taken back now: {}",
                                 node.name, Printable(Join(SplitLines(reply->out), ", "))));
    }
  });
  if (!errors.empty()) return Fail(std::move(errors.front()));
  std::sort(told.begin(), told.end());
  return told;
}

Errors Guard::Arm(const Plan& pass, const Journal& journal) {
  for (const NodeSpec& node : cluster_.nodes) {
    const auto taken = journal.steps.find(node.name);
    std::size_t next = taken == journal.steps.end() ? 0 : taken->second;
    for (const Stage& stage : pass.stages) {
      const std::vector<const Change*> work = WorkOn(stage, node.name);
      if (work.empty()) continue;
      GuardedStage guarded{.first_step = next};
      for (const Change* change : work) guarded.changes.push_back(*change);
      next += StepsOf(work).size();
      stages_[node.name].push_back(std::move(guarded));
    }
  }
  return OnEveryNode("the revert could not be armed", [&](const NodeName& node) {
    const std::vector<GuardedStage>& stages = stages_.at(node);
    return ArmScript(apply_id_, journal.directory, RevertScript(stages, journal.directory),
                     GuardLimit(stages));
  });
}

Errors Guard::Commit(const std::function<CommitTexts(const NodeName&)>& texts) {
  const std::string journal = JournalDirectory(apply_id_);
  return OnEveryNode("the plan could not be committed", [&](const NodeName& node) {
    return CommitScript(apply_id_, journal, texts(node));
  });
}

Errors Guard::Revert() {
  const std::string script =
      ScriptPreamble(MakeNonce()) + RevertNowScript(JournalDirectory(apply_id_));
  Errors errors;
  std::mutex mutex;
  ForEachNode(Nodes(), [&](const NodeSpec& node) {
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::seconds(GuardLimit(stages_.at(node.name)) + 30);
    for (;;) {
      const auto reply = pool_.Run(node, script, kRevertLimit);
      if (reply && reply->exit_code == 0) return;
      if (!reply && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(kBetweenTries);
        continue;
      }
      const std::lock_guard lock(mutex);
      errors.push_back(reply ? NodeError(node.name, "the plan could not be taken back", *reply)
                             : reply.error());
      return;
    }
  });
  return errors;
}

}  // namespace reconciler
