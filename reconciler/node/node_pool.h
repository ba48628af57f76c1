#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/node/shell_answer.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

// The open connections of one run: at most one per node, made when first needed and used again by
// everything that follows. A connection that broke is dropped and made again at the next call.
class NodePool {
 public:
  // `at_once`: see ForEachNode.
  explicit NodePool(Dial dial, std::size_t at_once = 0)
      : dial_(std::move(dial)), at_once_(at_once) {}
  ~NodePool() { DropAll(); }
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;

  // Runs `script` in a shell on the node, connecting first when needed. The shell stays open for
  // the scripts after it: a login's startup files may be slow. A non-zero exit code is a reply.
  // Errors: the limit passed, more than 16 MiB of output arrived, the connection broke, or sudo
  // refused; they carry the node's name as context. Safe to call from several threads for
  // different nodes.
  Result<ScriptReply> Run(const NodeSpec& node, std::string_view script, Milliseconds limit) {
    return RunAs(ScriptShell::kSub, node, script, limit);
  }
  // The same without a subshell, which is a process: for a script that leaves the shell as it was.
  Result<ScriptReply> RunInPlace(const NodeSpec& node, std::string_view script,
                                 Milliseconds limit) {
    return RunAs(ScriptShell::kItself, node, script, limit);
  }

  // Opens the shells of Run, at the same time. A node of which that fails answers the next call
  // with that error, and is not waited for again. False: one failed.
  bool OpenAhead(const std::vector<const NodeSpec*>& nodes);

  // Where scripts run instead of in shells of the pool's own, until DropAll: a login that is there
  // already. Nothing: not for that node. Not while other threads use the pool.
  using Elsewhere = std::function<std::optional<Result<ScriptReply>>(
      const NodeSpec& node, std::string_view script, Milliseconds limit)>;
  void RunElsewhere(Elsewhere elsewhere) { elsewhere_ = std::move(elsewhere); }

  std::size_t at_once() const { return at_once_; }

  // How many scripts were run on the node.
  std::size_t Runs(const NodeName& node) const;

  // Drops the connection, so that the next call proves that a new login works.
  void Drop(const NodeName& node);
  void DropAll();

  // A shell that stays open while other scripts run on the same connection, from the same thread;
  // it outlives Drop. It is the shell of Run where that is open: some sshd allow only one.
  Result<std::unique_ptr<Channel>> OpenShell(const NodeSpec& node);
  // A shell that other threads may use: it takes the connection with it, and the next call makes a
  // new one.
  Result<std::unique_ptr<Channel>> OpenOwnShell(const NodeSpec& node);

 private:
  struct Connection {
    ~Connection();
    std::unique_ptr<Transport> transport = {};
    std::unique_ptr<Channel> shell = {};  // of Run; null: the next one opens it
    std::string nonce = {};               // of that shell's answers
  };
  Result<Connection*> GetConnection(const NodeSpec& node);
  Result<ScriptReply> RunAs(ScriptShell in, const NodeSpec& node, std::string_view script,
                            Milliseconds limit);
  static Result<ShellAnswer> RunOn(ScriptShell in, Connection& connection, std::string_view script,
                                   Milliseconds limit);

  Dial dial_;
  std::size_t at_once_;
  mutable std::mutex mutex_;  // of the maps; each connection belongs to one thread at a time
  std::map<NodeName, std::unique_ptr<Connection>> open_;
  std::map<NodeName, std::size_t> runs_;
  std::map<NodeName, Error> failed_ahead_;
  Elsewhere elsewhere_ = {};
};

using NodeErrors = std::map<NodeName, Error>;

// The root of every thread that works for a node: an exception that `work` throws becomes an error
// of that node, and does not end the program.
std::optional<Error> CatchThrown(const NodeName& node, const std::function<void()>& work);

// Calls `work` for all nodes at the same time, one thread each, and waits for all of them. Returns
// what it threw, by node: results of those nodes are not to be relied on.
[[nodiscard]] NodeErrors ForEachNode(const std::vector<const NodeSpec*>& nodes,
                                     const std::function<void(const NodeSpec&)>& work);
// The same for `at_once` nodes at a time, in their order; 0: for all. Only where no node waits for
// another one.
[[nodiscard]] NodeErrors ForEachNode(const std::vector<const NodeSpec*>& nodes, std::size_t at_once,
                                     const std::function<void(const NodeSpec&)>& work);
// How often a thread of the second one takes a node, at most.
std::size_t CountRounds(std::size_t nodes, std::size_t at_once);
void AppendErrors(NodeErrors thrown, Errors& errors);

// The nodes of the cluster that IsNameSelected selects, in manifest order.
std::vector<const NodeSpec*> SelectNodes(const ClusterSpec& cluster,
                                         const std::vector<std::string>& patterns);

}  // namespace reconciler
