#include "reconciler/apply/guard/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "reconciler/apply/guard/beacon_proof.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// A request that the trial does not outlast has failed: the nodes revert the plan by then.
Milliseconds ComputeRequestLimit(const GuardTimes& times) {
  return std::chrono::seconds(std::clamp(times.revert_after, 10, 30));
}
constexpr std::chrono::seconds kBetweenTries{3};

// `why`: printable; empty: the node did not say it.
Error MakeNodeError(const NodeName& node, const std::string& what, const ScriptReply& reply,
                    const std::string& why) {
  return {
      .kind = ErrorKind::kApply,
      .message = fmt::format("{}: exit {}{}", what, reply.exit_code, why.empty() ? "" : ": " + why),
      .context = {node}};
}

constexpr std::string_view kHint = "hint: ";

// By the last line that the node said, behind which there may be a hint (see explain_full).
Error MakeRequestError(const NodeName& node, const std::string& what, const ScriptReply& reply) {
  std::vector<std::string> lines = SplitLines(Trim(reply.err));
  std::string hint;
  if (!lines.empty() && lines.back().starts_with(kHint)) {
    hint = MakePrintable(std::string_view(lines.back()).substr(kHint.size()));
    lines.pop_back();
  }
  Error error = MakeNodeError(node, what, reply, FindLastLine(Join(lines, "\n")));
  error.hint = std::move(hint);
  return error;
}

std::vector<std::string> ListNetdevs(const Fabric& fabric, const NodeName& node) {
  std::vector<std::string> netdevs;
  const auto ports = fabric.ports.find(node);
  if (ports == fabric.ports.end()) return netdevs;
  for (const RailPort& port : ports->second) netdevs.push_back(port.netdev);
  return netdevs;
}

// Whether a change is of a port, or a command of it sets the port.
bool ChangesPort(const Change& change, const std::string& netdev) {
  const auto sets_it = [&](const RunCommand& command) {
    return command.sets == "/sys/class/net/" + netdev;
  };
  return (change.is_link && change.name == netdev) ||
         std::any_of(change.triggers.begin(), change.triggers.end(), sets_it);
}

// The ports of a node that have no rail: those of unused cages, and the other twin of a used one.
std::set<std::string> ListUnused(const ClusterSpec& cluster, const Fabric& fabric,
                                 const NodeName& node) {
  std::set<std::string> netdevs;
  const auto unused = fabric.unused_netdevs.find(node);
  if (unused != fabric.unused_netdevs.end()) {
    netdevs.insert(unused->second.begin(), unused->second.end());
  }
  const NodeSpec* spec = cluster.FindNode(node);
  const Hardware* hardware = spec != nullptr ? cluster.FindHardware(*spec) : nullptr;
  if (hardware == nullptr) return netdevs;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) netdevs.insert(twin.netdev);
  }
  for (const std::string& used : ListNetdevs(fabric, node)) netdevs.erase(used);
  return netdevs;
}

// Those of them that the apply may change: all of unused cages where the manifest wants them down,
// those that had a rail before, and those that an adopted file configured. The others are as little
// ours as any other interface.
std::vector<std::string> ListChangedUnused(const ClusterSpec& cluster, const Fabric& fabric,
                                           const NodeName& node,
                                           const std::vector<GuardedStage>& stages) {
  std::vector<std::string> netdevs;
  const auto down = fabric.unused_netdevs.find(node);
  if (cluster.fabric.unused_cages == UnusedCages::kDown && down != fabric.unused_netdevs.end()) {
    netdevs = down->second;
  }
  for (const std::string& netdev : ListUnused(cluster, fabric, node)) {
    const auto changes_it = [&](const Change& one) { return ChangesPort(one, netdev); };
    if (std::any_of(stages.begin(), stages.end(), [&](const GuardedStage& stage) {
          return std::any_of(stage.changes.begin(), stage.changes.end(), changes_it);
        })) {
      netdevs.push_back(netdev);
    }
  }
  return netdevs;
}

}  // namespace

std::vector<const NodeSpec*> Guard::ListNodes() const {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    if (stages_.contains(node.name)) nodes.push_back(&node);
  }
  return nodes;
}

std::set<NodeName> Guard::ListApplied() const {
  std::set<NodeName> names;
  for (const auto& [name, stages] : stages_) names.insert(name);
  return names;
}

Errors Guard::RunOnEveryNode(const std::string& what,
                             const std::function<std::string(const NodeName&)>& request,
                             const OnReply& on_reply, std::size_t at_once) {
  Errors errors;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(ListNodes(), at_once, [&](const NodeSpec& node) {
    const auto reply = sessions_.Run(node, request(node.name), ComputeRequestLimit(times_));
    const std::lock_guard lock(mutex);
    if (!reply || reply->exit_code != 0) {
      errors.push_back(reply ? MakeRequestError(node.name, what, *reply) : reply.error());
    } else if (on_reply) {
      on_reply(node.name, *reply);
    }
  });
  AppendErrors(std::move(thrown), errors);
  return errors;
}

Errors Guard::StageAndArm(const Plan& pass, const Fabric& fabric, const Journal& journal) {
  std::map<NodeName, std::string> staging;
  for (const NodeSpec& node : cluster_.nodes) {
    const auto taken = journal.steps.find(node.name);
    std::size_t next = taken == journal.steps.end() ? 0 : taken->second;
    for (const Stage& stage : pass.stages) {
      const std::vector<const Change*> work = ListWork(stage, node.name);
      if (work.empty()) continue;
      GuardedStage guarded{.first_step = next};
      for (const Change* change : work) guarded.changes.push_back(*change);
      const std::vector<Step> steps = ListSteps(work);
      staging[node.name] += BuildStageRequest(steps, next, journal.directory);
      next += steps.size();
      stages_[node.name].push_back(std::move(guarded));
    }
  }
  // Before: nodes that are armed already wait for those that come later.
  if (!beat_.joinable()) {
    beat_ = sessions_.Beat(BuildBeatRequest(journal.directory),
                           std::chrono::seconds(times_.revert_after) / 3);
  }
  const auto build_request = [&](const NodeName& node) {
    const std::vector<GuardedStage>& stages = stages_.at(node);
    return staging[node] + BuildArmRequest(journal.directory, stages, times_,
                                           ListNetdevs(fabric, node),
                                           ListChangedUnused(cluster_, fabric, node, stages));
  };
  return RunOnEveryNode("the plan could not be staged", build_request, {}, sessions_.at_once());
}

tl::expected<std::map<NodeName, BeaconPaths>, Errors> Guard::ProveBeacons(const Fabric& fabric) {
  const std::string what = "the peers' beacons could not be looked for";
  const std::string journal = GetJournalDirectory(apply_id_);
  std::map<NodeName, Peers> proof;
  for (const NodeName& node : ListApplied()) {
    proof[node] = ListPeers(fabric, node, ListApplied(), apply_id_ + " proof");
  }
  const auto has_peers = [](const auto& one) { return !one.second.paths.empty(); };
  std::map<NodeName, BeaconPaths> found;
  if (std::none_of(proof.begin(), proof.end(), has_peers)) return found;
  Errors errors = RunOnEveryNode(
      what, [&](const NodeName& node) { return BuildShowProofRequest(journal, proof.at(node)); });
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  errors = RunOnEveryNode(
      what, [&](const NodeName&) { return BuildLookForPeersRequest(journal); },
      [&](const NodeName& node, const ScriptReply& reply) {
        found[node] = ParseBeaconReply(proof.at(node).paths, reply.out);
      });
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return found;
}

Errors Guard::RecordIntent(const Fabric& fabric,
                           const std::function<Documents(const NodeName&)>& documents) {
  const std::string journal = GetJournalDirectory(apply_id_);
  std::map<NodeName, Peers> peers;
  for (const NodeName& node : ListApplied()) {
    peers[node] = ListPeers(fabric, node, ListApplied(), apply_id_);
    rounds_ = std::max(rounds_, peers[node].rounds);
  }
  return RunOnEveryNode("the plan could not be prepared for its commit", [&](const NodeName& node) {
    return BuildIntentRequest(journal, documents(node), peers.at(node));
  });
}

Errors Guard::Commit() {
  beat_ = {};
  return EndOnEveryNode("the plan could not be committed",
                        BuildCommitRequest(GetJournalDirectory(apply_id_)));
}

Errors Guard::Finish() {
  const std::string request = BuildFinishRequest(GetJournalDirectory(apply_id_));
  return RunOnEveryNode("the guard could not be removed", [&](const NodeName&) { return request; });
}

Errors Guard::Revert(const std::set<NodeName>& in_a_step) {
  beat_ = {};
  return EndOnEveryNode("the plan could not be reverted",
                        BuildRevertRequest(GetJournalDirectory(apply_id_)), in_a_step);
}

int Guard::FindLongestStep(const NodeName& node) const {
  int longest = 0;
  for (const GuardedStage& stage : stages_.at(node)) {
    std::vector<const Change*> changes;
    for (const Change& change : stage.changes) changes.push_back(&change);
    for (const Step& step : ListSteps(changes)) {
      const auto* command = std::get_if<RunCommand>(&step.action);
      if (command != nullptr) longest = std::max(longest, command->time_limit_s);
    }
  }
  return longest;
}

Errors Guard::EndOnEveryNode(const std::string& what, const std::string& request,
                             const std::set<NodeName>& in_a_step) {
  Errors errors;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(ListNodes(), [&](const NodeSpec& node) {
    // By then the node has ended it on its own, or never will.
    const std::chrono::seconds limit(
        times_.revert_after + times_.moment() * rounds_ + 60 +
        (in_a_step.contains(node.name) ? FindLongestStep(node.name) : 0));
    EndNotes notes;
    auto ended = EndOnNode(node, what, request, limit, notes);
    const std::lock_guard lock(mutex);
    if (!ended) errors.push_back(std::move(ended).error());
    if (auto lines = notes.List(); !lines.empty()) notes_[node.name] = std::move(lines);
  });
  AppendErrors(std::move(thrown), errors);
  return errors;
}

Result<void> Guard::EndOnNode(const NodeSpec& node, const std::string& what,
                              const std::string& request, std::chrono::seconds limit,
                              EndNotes& notes) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const auto reply = sessions_.RunAfresh(node, request, kGuardEndLimit);
    if (reply) notes.Read(reply->err);
    if (reply && reply->exit_code == 0) return {};
    const bool decided_otherwise = reply && reply->exit_code == 3;
    if (std::chrono::steady_clock::now() < deadline && !decided_otherwise) {
      std::this_thread::sleep_for(kBetweenTries);
      continue;
    }
    return Fail(reply ? MakeNodeError(node.name, what, *reply, ExplainFailedEnd(reply->err))
                      : reply.error());
  }
}

}  // namespace reconciler
