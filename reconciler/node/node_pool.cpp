#include "reconciler/node/node_pool.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "reconciler/base/text.h"

namespace reconciler {

namespace {

// The transports name the node themselves where they can.
Error AddNodeName(Error error, const NodeSpec& node) {
  if (error.message.starts_with(node.name)) return error;
  return AddContext(std::move(error), node.name);
}

}  // namespace

Result<Transport*> NodePool::GetConnection(const NodeSpec& node) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(node.name);
    if (found != open_.end()) return found->second.get();
  }
  auto transport = dial_(node);
  if (!transport) return Fail(std::move(transport).error());
  const std::lock_guard lock(mutex_);
  return (open_[node.name] = std::move(*transport)).get();
}

void NodePool::Drop(const NodeName& node) {
  std::unique_ptr<Transport> closing;  // closed outside the lock: it may take a round trip
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(node);
  if (found == open_.end()) return;
  closing = std::move(found->second);
  open_.erase(found);
}

std::size_t NodePool::Runs(const NodeName& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(node);
  return found == runs_.end() ? 0 : found->second;
}

void NodePool::DropAll() {
  std::map<NodeName, std::unique_ptr<Transport>> closing;
  const std::lock_guard lock(mutex_);
  closing.swap(open_);
}

Result<std::unique_ptr<Channel>> NodePool::OpenShell(const NodeSpec& node) {
  auto transport = GetConnection(node);
  if (!transport) return Fail(AddNodeName(std::move(transport).error(), node));
  auto shell = (*transport)->OpenShell();
  if (!shell) {
    Drop(node.name);
    return Fail(AddNodeName(std::move(shell).error(), node));
  }
  return shell;
}

Result<std::unique_ptr<Channel>> NodePool::OpenOwnShell(const NodeSpec& node) {
  auto shell = OpenShell(node);
  if (shell) Drop(node.name);
  return shell;
}

Result<ScriptReply> NodePool::Run(const NodeSpec& node, std::string_view script,
                                  Milliseconds limit) {
  {
    const std::lock_guard lock(mutex_);
    ++runs_[node.name];
  }
  auto transport = GetConnection(node);
  if (!transport) return Fail(AddNodeName(std::move(transport).error(), node));
  auto reply = RunScript(**transport, script, limit);
  if (!reply) {
    Drop(node.name);
    return Fail(AddNodeName(std::move(reply).error(), node));
  }
  if (auto refusal = FindSudoRefusal(node, *reply)) return Fail(std::move(*refusal));
  return reply;
}

std::optional<Error> CatchThrown(const NodeName& node, const std::function<void()>& work) {
  std::string what = "no description";
  try {
    work();
    return std::nullopt;
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {  // nothing that is thrown may end the program: other nodes wait to be reverted
  }
  return Error{.kind = ErrorKind::kProbe,
               .message = "its answer could not be processed: " + MakePrintable(what),
               .context = {node},
               .hint = "report this fault of spark-reconcile, with what the node answered"};
}

NodeErrors ForEachNode(const std::vector<const NodeSpec*>& nodes,
                       const std::function<void(const NodeSpec&)>& work) {
  NodeErrors thrown;
  std::mutex mutex;
  {
    std::vector<std::jthread> threads;
    threads.reserve(nodes.size());
    for (const NodeSpec* node : nodes) {
      threads.emplace_back([&, node] {
        auto error = CatchThrown(node->name, [&] { work(*node); });
        if (!error) return;
        const std::lock_guard lock(mutex);
        thrown.emplace(node->name, std::move(*error));
      });
    }
  }
  return thrown;
}

void AppendErrors(NodeErrors thrown, Errors& errors) {
  for (auto& [name, error] : thrown) errors.push_back(std::move(error));
}

std::vector<const NodeSpec*> SelectNodes(const ClusterSpec& cluster,
                                         const std::vector<NodeName>& names) {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster.nodes) {
    if (names.empty() || std::find(names.begin(), names.end(), node.name) != names.end()) {
      nodes.push_back(&node);
    }
  }
  return nodes;
}

}  // namespace reconciler
