#include "reconciler/node/node_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "reconciler/base/name_pattern.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/shell_answer.h"

namespace reconciler {

namespace {

// The transports name the node themselves where they can.
Error AddNodeName(Error error, const NodeSpec& node) {
  if (error.message.starts_with(node.name)) return error;
  return AddContext(std::move(error), node.name);
}

}  // namespace

NodePool::Connection::~Connection() {
  if (shell != nullptr) CloseIdleShell(*shell);
}

Result<NodePool::Connection*> NodePool::GetConnection(const NodeSpec& node) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(node.name);
    if (found != open_.end()) return found->second.get();
    if (auto failed = failed_ahead_.extract(node.name)) return Fail(std::move(failed.mapped()));
  }
  auto transport = dial_(node);
  if (!transport) return Fail(std::move(transport).error());
  const std::lock_guard lock(mutex_);
  auto& connection = open_[node.name] = std::make_unique<Connection>();
  connection->transport = std::move(*transport);
  return connection.get();
}

bool NodePool::OpenAhead(const std::vector<const NodeSpec*>& nodes) {
  std::atomic<bool> all = true;
  const auto fail = [&](const NodeName& node, Error error) {
    all = false;
    const std::lock_guard lock(mutex_);
    failed_ahead_.insert_or_assign(node, std::move(error));
  };
  NodeErrors thrown = ForEachNode(nodes, at_once_, [&](const NodeSpec& node) {
    auto connection = GetConnection(node);
    if (!connection) return fail(node.name, std::move(connection).error());
    if ((*connection)->shell != nullptr) return;
    auto shell = (*connection)->transport->OpenShell();
    if (!shell) {
      Drop(node.name);
      return fail(node.name, std::move(shell).error());
    }
    (*connection)->shell = std::move(*shell);
    (*connection)->nonce = MakeNonce();
  });
  for (auto& [name, error] : thrown) fail(name, std::move(error));
  return all;
}

void NodePool::Drop(const NodeName& node) {
  std::unique_ptr<Connection> closing;  // closed outside the lock: it may take a round trip
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
  elsewhere_ = nullptr;
  std::map<NodeName, std::unique_ptr<Connection>> closing;
  {
    const std::lock_guard lock(mutex_);
    closing.swap(open_);
    failed_ahead_.clear();
  }
  // At the same time: a node that does not answer keeps no other waiting.
  std::vector<std::jthread> threads;
  for (auto& [node, connection] : closing) {
    threads.emplace_back([&closed = connection] { closed.reset(); });
  }
}

Result<std::unique_ptr<Channel>> NodePool::OpenShell(const NodeSpec& node) {
  auto connection = GetConnection(node);
  if (!connection) return Fail(AddNodeName(std::move(connection).error(), node));
  if (auto idle = std::exchange((*connection)->shell, nullptr)) return idle;
  auto shell = (*connection)->transport->OpenShell();
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

// A shell that did not answer is not idle: its channel ends what it runs on the node.
Result<ShellAnswer> NodePool::RunOn(ScriptShell in, Connection& connection, std::string_view script,
                                    Milliseconds limit) {
  const Deadline deadline = std::chrono::steady_clock::now() + limit;
  std::unique_ptr<Channel> shell = std::exchange(connection.shell, nullptr);
  const bool is_reused = shell != nullptr;
  if (!is_reused) {
    auto opened = connection.transport->OpenShell();
    if (!opened) return Fail(std::move(opened).error());
    shell = std::move(*opened);
    connection.nonce = MakeNonce();
  }
  if (auto written = shell->Write(BuildAnsweredScript(script, connection.nonce, in), deadline);
      !written) {
    return Fail(AddPassedLimit(std::move(written).error(), deadline, limit));
  }
  auto answer = ReadShellAnswer(*shell, connection.nonce, deadline);
  if (!answer) return Fail(AddPassedLimit(std::move(answer).error(), deadline, limit));
  const ScriptReply& reply = answer->reply;
  if (is_reused && answer->shell_ended && reply.out.empty() && reply.err.empty()) {
    return Fail({.kind = ErrorKind::kTransport, .message = "the node's shell ended meanwhile"});
  }
  if (!answer->shell_ended) connection.shell = std::move(shell);
  return answer;
}

Result<ScriptReply> NodePool::RunAs(ScriptShell in, const NodeSpec& node, std::string_view script,
                                    Milliseconds limit) {
  {
    const std::lock_guard lock(mutex_);
    ++runs_[node.name];
  }
  if (elsewhere_) {
    if (auto reply = elsewhere_(node, script, limit)) return std::move(*reply);
  }
  auto connection = GetConnection(node);
  if (!connection) return Fail(AddNodeName(std::move(connection).error(), node));
  auto answer = RunOn(in, **connection, script, limit);
  if (!answer) {
    Drop(node.name);
    return Fail(AddNodeName(std::move(answer).error(), node));
  }
  if (answer->shell_ended) {
    if (auto refusal = FindSudoRefusal(node, answer->reply)) return Fail(std::move(*refusal));
  }
  return std::move(answer->reply);
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
  return ForEachNode(nodes, 0, work);
}

NodeErrors ForEachNode(const std::vector<const NodeSpec*>& nodes, std::size_t at_once,
                       const std::function<void(const NodeSpec&)>& work) {
  NodeErrors thrown;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  const auto work_on_next = [&] {
    for (std::size_t i = next++; i < nodes.size(); i = next++) {
      const NodeSpec& node = *nodes[i];
      auto error = CatchThrown(node.name, [&] { work(node); });
      if (!error) continue;
      const std::lock_guard lock(mutex);
      thrown.emplace(node.name, std::move(*error));
    }
  };
  const std::size_t count = at_once == 0 ? nodes.size() : std::min(at_once, nodes.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work_on_next);
  }
  return thrown;
}

std::size_t CountRounds(std::size_t nodes, std::size_t at_once) {
  return at_once == 0 ? 1 : std::max<std::size_t>(1, (nodes + at_once - 1) / at_once);
}

void AppendErrors(NodeErrors thrown, Errors& errors) {
  for (auto& [name, error] : thrown) errors.push_back(std::move(error));
}

std::vector<const NodeSpec*> SelectNodes(const ClusterSpec& cluster,
                                         const std::vector<std::string>& patterns) {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster.nodes) {
    if (IsNameSelected(patterns, node.name)) nodes.push_back(&node);
  }
  return nodes;
}

}  // namespace reconciler
