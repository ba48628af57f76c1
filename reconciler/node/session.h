#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "reconciler/node/node_pool.h"

namespace reconciler {

// How long a node waits for the controller of a session; then it is gone, and the node ends it.
struct Patience {
  std::chrono::seconds first{120};  // for the first request
  std::chrono::seconds later{90};   // longer than the last request could take
};

// kKnown: only a node on which an earlier apply took the lock, so that nothing is left elsewhere.
enum class LockNodes { kAll, kKnown };

// One root shell on one node for a whole apply. It holds the node's lock (a flock, which dies with
// it) beside a lease that says whose it is, and answers requests one after another, so that a
// request costs one round trip. Safe to call from several threads.
class Session {
 public:
  // `lease`: what the next controller is shown. Errors: kLocked with the other's lease, or why no
  // shell came about.
  static Result<std::unique_ptr<Session>> Open(const NodeSpec& node, NodePool& pool,
                                               const std::string& lease,
                                               const Patience& patience = {},
                                               LockNodes which = LockNodes::kAll);

  // Runs shell text that may use NodeHelper's functions. It is read whole before any of it runs, so
  // that a cut connection never leaves half a request. After an error (limit passed, connection
  // lost, more than 16 MiB of output) the shell is closed for good: nothing is known about the
  // rest.
  Result<ScriptReply> Request(std::string_view script, Milliseconds limit);

  // The same, for what counts as a reading: see RoundTrips.
  Result<ScriptReply> Read(std::string_view script, Milliseconds limit);

  // The same where the session is idle; false: it is not. What came of it is not reported.
  bool RequestIfIdle(std::string_view script, Milliseconds limit);

  // Ends the shell, and with it the lock; waits a moment for its end.
  void Close();

  // What the shell's frames are marked with (see ParseFrames).
  const std::string& nonce() const { return nonce_; }
  bool IsBroken() const;
  // Without heartbeats, whose number depends on how long an apply takes. Does not wait for a
  // request that is running.
  std::size_t Requests() const { return requests_; }

 private:
  Session(NodeName node, std::unique_ptr<Channel> shell, std::string nonce)
      : node_(std::move(node)), shell_(std::move(shell)), nonce_(std::move(nonce)) {}
  Result<ScriptReply> RequestLocked(std::string_view script, Milliseconds limit,
                                    std::string_view what);
  Result<ScriptReply> SendAndReceive(const std::string& text, Milliseconds limit);

  mutable std::mutex mutex_ = {};
  NodeName node_;
  std::unique_ptr<Channel> shell_;  // null: broken
  std::string nonce_;
  std::string why_closed_ = {};
  std::atomic<std::size_t> requests_ = 0;
};

struct RoundTrips {
  std::size_t requests = 0;  // of a session, its beginning and its heartbeats included
  std::size_t readings = 0;  // scripts beside it: facts, cables, proofs
};

// The sessions of one apply.
class Sessions {
 public:
  // Opens the first node's alone, so that of two controllers one wins whole, then the others at the
  // same time, as many as the pool allows. Nodes that cannot be reached, by a new login either, are
  // left out: see GetLeftOut. A lock held by another is a kLocked error; every session opened is
  // closed again. The first request comes when all of them are open: `patience` is extended for
  // that.
  static Result<std::unique_ptr<Sessions>> OpenAll(const std::vector<const NodeSpec*>& nodes,
                                                   NodePool& pool, std::string lease,
                                                   const Patience& patience = {},
                                                   LockNodes which = LockNodes::kAll);

  // Closes them at the same time.
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  // Why nodes have no session, one error each.
  const Errors& GetLeftOut() const { return left_out_; }

  // A request to one node. Nodes without a session are a kTransport error.
  Result<ScriptReply> Run(const NodeSpec& node, std::string_view script, Milliseconds limit);
  // The same, through a new session (and login) where the old one broke.
  Result<ScriptReply> RunAfresh(const NodeSpec& node, std::string_view script, Milliseconds limit);

  // For NodePool::RunElsewhere, until these sessions end.
  NodePool::Elsewhere MakeElsewhere();

  // Sends `script` to every session each `period`, or a moment later where it is busy, until the
  // returned thread is stopped: a node's guard must not fire because the controller waits for
  // another node.
  std::jthread Beat(std::string script, std::chrono::milliseconds period);

  std::string Nonce(const NodeName& node) const;
  // See ForEachNode.
  std::size_t at_once() const { return pool_.at_once(); }
  // The most of any node so far.
  RoundTrips FindMostRoundTrips() const;

 private:
  Sessions(NodePool& pool, std::string lease, const Patience& patience)
      : pool_(pool), lease_(std::move(lease)), patience_(patience) {}
  std::shared_ptr<Session> Find(const NodeName& node) const;
  std::vector<NodeName> ListOpen() const;
  void BeatNode(const NodeName& node, const std::string& script, std::chrono::milliseconds period,
                const std::stop_token& stop);

  NodePool& pool_;
  std::string lease_;
  Patience patience_;
  mutable std::mutex mutex_ = {};  // of the map
  std::map<NodeName, std::shared_ptr<Session>> open_ = {};
  Errors left_out_ = {};
};

}  // namespace reconciler
