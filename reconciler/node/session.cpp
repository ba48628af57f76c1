#include "reconciler/node/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <optional>

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/helper/node_helper.h"
#include "reconciler/node/lock.h"
#include "reconciler/node/shell_answer.h"
#include "reconciler/node/take_lock.sh.h"

namespace reconciler {
namespace {

constexpr Milliseconds kOpenLimit{20000};
constexpr Milliseconds kBeatLimit{10000};  // the node's next request, and an end, wait for it
constexpr int kLocked = 9;                 // the exit code of the lock's own request

Error MakeLostError(std::string message) {
  return {.kind = ErrorKind::kTransport, .message = std::move(message)};
}

// The first node's session waits until the others are open, each round of them as long as the
// slowest node, by a second login at most.
Patience ExtendPatience(Patience patience, const std::vector<const NodeSpec*>& nodes,
                        std::size_t at_once) {
  const auto logins = static_cast<int>(2 * CountRounds(nodes.size(), at_once));
  for (const NodeSpec* node : nodes) {
    const std::chrono::seconds connect{node->access.connect_timeout_s};
    const auto open = std::chrono::ceil<std::chrono::seconds>(kOpenLimit);
    patience.first = std::max(patience.first, logins * (connect + open));
  }
  return patience;
}

}  // namespace

Result<ScriptReply> Session::SendAndReceive(const std::string& text, Milliseconds limit) {
  const Deadline deadline = std::chrono::steady_clock::now() + limit;
  if (auto written = shell_->Write(text, deadline); !written) return Fail(written.error());
  auto answer = ReadShellAnswer(*shell_, nonce_, deadline);
  if (!answer) return Fail(std::move(answer).error());
  if (!answer->shell_ended) return std::move(answer->reply);
  const std::string said = MakePrintable(Trim(answer->reply.err));
  return Fail(MakeLostError(said.empty() ? "the node's shell ended early"
                                         : "the node's shell ended early: " + said));
}

Result<std::unique_ptr<Session>> Session::Open(const NodeSpec& node, NodePool& pool,
                                               const std::string& lease, const Patience& patience,
                                               LockNodes which) {
  auto shell = pool.OpenOwnShell(node);  // heartbeats come from a thread beside the pool's
  if (!shell) return Fail(std::move(shell).error());
  std::unique_ptr<Session> session(new Session(node.name, std::move(*shell), MakeNonce()));
  ++session->requests_;
  auto reply = session->SendAndReceive(
      BuildScriptPreamble(session->nonce_) + BuildNodeHelper() +
          AssignForShell({{"D", kStateFolder},
                          {"LEASE", lease},
                          {"KNOWN", which == LockNodes::kKnown ? "yes" : ""},
                          {"FIRST", std::to_string(patience.first.count())},
                          {"PATIENCE", std::to_string(patience.later.count())}}) +
          std::string(kTakeLockSh),
      kOpenLimit);
  if (!reply) {
    // sudo speaks before any shell runs.
    if (auto refusal = FindSudoRefusal(node, {.exit_code = 1, .err = reply.error().message})) {
      return Fail(std::move(*refusal));
    }
    return Fail({.kind = ErrorKind::kTransport,
                 .message = "the lock could not be taken: " + reply.error().message,
                 .context = {node.name}});
  }
  if (reply->exit_code == 0) return session;
  if (reply->exit_code == kLocked) {
    const std::vector<std::string> lines = SplitLines(reply->out);
    return Fail(MakeLockedError(node.name, lines.empty() ? "it left no lease" : lines.front()));
  }
  return Fail({.kind = ErrorKind::kApply,
               .message = "the lock could not be taken: " + MakePrintable(Trim(reply->err)),
               .context = {node.name}});
}

Result<ScriptReply> Session::Request(std::string_view script, Milliseconds limit) {
  const std::lock_guard lock(mutex_);
  ++requests_;
  return RequestLocked(script, limit, "a request");
}

Result<ScriptReply> Session::Read(std::string_view script, Milliseconds limit) {
  const std::lock_guard lock(mutex_);
  return RequestLocked(script, limit, "a reading");
}

bool Session::RequestIfIdle(std::string_view script, Milliseconds limit) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  // A failure is reported by the next request that matters.
  static_cast<void>(RequestLocked(script, limit, "a heartbeat"));
  return true;
}

Result<ScriptReply> Session::RequestLocked(std::string_view script, Milliseconds limit,
                                           std::string_view what) {
  if (shell_ == nullptr) {
    return Fail(
        AddContext(MakeLostError("the session on the node is closed since " + why_closed_), node_));
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit).count();
  // Afterwards the shell is as patient as after a heartbeat, however long the request could have
  // taken: a node that is cut off then keeps the lock no longer.
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(kBeatLimit).count();
  auto reply = SendAndReceive(fmt::format("may_be_silent {}\n(\n{}\n) </dev/null 9>&-\ncode=$?\n"
                                          "may_be_silent {}\nframe \"done $code\"\n",
                                          seconds, script, idle),
                              limit);
  if (!reply) {
    shell_.reset();
    why_closed_ =
        fmt::format("{} with a limit of {} s failed: {}", what, seconds, reply.error().message);
    return Fail(AddContext(std::move(reply).error(), node_));
  }
  return reply;
}

void Session::Close() {
  const std::lock_guard lock(mutex_);
  if (shell_ == nullptr) return;
  CloseIdleShell(*shell_);
  shell_.reset();
  why_closed_ = "its end";
}

bool Session::IsBroken() const {
  const std::lock_guard lock(mutex_);
  return shell_ == nullptr;
}

Result<std::unique_ptr<Sessions>> Sessions::OpenAll(const std::vector<const NodeSpec*>& nodes,
                                                    NodePool& pool, std::string lease,
                                                    const Patience& patience, LockNodes which) {
  std::unique_ptr<Sessions> sessions(
      new Sessions(pool, std::move(lease), ExtendPatience(patience, nodes, pool.at_once())));
  std::optional<Error> refused;
  const auto take = [&](const NodeSpec& node) {
    auto session = Session::Open(node, pool, sessions->lease_, sessions->patience_, which);
    if (!session && session.error().kind == ErrorKind::kTransport) {
      pool.Drop(node.name);  // the login may be an old one that broke meanwhile
      session = Session::Open(node, pool, sessions->lease_, sessions->patience_, which);
    }
    const std::lock_guard lock(sessions->mutex_);
    if (session) {
      sessions->open_[node.name] = std::move(*session);
    } else if (session.error().kind != ErrorKind::kTransport) {
      refused = std::move(session).error();
    } else {
      sessions->left_out_.push_back(std::move(session).error());
    }
  };
  if (!nodes.empty()) take(*nodes.front());
  if (!refused && nodes.size() > 1) {
    AppendErrors(ForEachNode({nodes.begin() + 1, nodes.end()}, pool.at_once(), take),
                 sessions->left_out_);
  }
  if (refused) return Fail(std::move(*refused));
  return sessions;
}

Sessions::~Sessions() {
  std::vector<std::jthread> threads;
  for (auto& [name, session] : open_) {
    threads.emplace_back([&node = name, &opened = session] {
      std::ignore = CatchThrown(node, [&] { opened->Close(); });
    });
  }
}

std::shared_ptr<Session> Sessions::Find(const NodeName& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(node);
  return found == open_.end() ? nullptr : found->second;
}

Result<ScriptReply> Sessions::Run(const NodeSpec& node, std::string_view script,
                                  Milliseconds limit) {
  const std::shared_ptr<Session> session = Find(node.name);
  if (session == nullptr)
    return Fail(AddContext(MakeLostError("no session on the node"), node.name));
  return session->Request(script, limit);
}

NodePool::Elsewhere Sessions::MakeElsewhere() {
  return [this](const NodeSpec& node, std::string_view script,
                Milliseconds limit) -> std::optional<Result<ScriptReply>> {
    const std::shared_ptr<Session> session = Find(node.name);
    if (session == nullptr) return std::nullopt;
    return session->Read(script, limit);
  };
}

Result<ScriptReply> Sessions::RunAfresh(const NodeSpec& node, std::string_view script,
                                        Milliseconds limit) {
  const std::shared_ptr<Session> old = Find(node.name);
  if (old == nullptr || old->IsBroken()) {
    pool_.Drop(node.name);
    auto session = Session::Open(node, pool_, lease_, patience_);
    if (!session) return Fail(std::move(session).error());
    const std::lock_guard lock(mutex_);
    open_[node.name] = std::move(*session);
  }
  return Run(node, script, limit);
}

std::vector<NodeName> Sessions::ListOpen() const {
  const std::lock_guard lock(mutex_);
  std::vector<NodeName> nodes;
  for (const auto& [name, session] : open_) nodes.push_back(name);
  return nodes;
}

// Every beat has a clock of its own: what another beat or a request said is no sign of this one.
void Sessions::BeatNode(const NodeName& node, const std::string& script,
                        std::chrono::milliseconds period, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point last = Clock::now();
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, period / 4, [&] { return stop.stop_requested(); })) {
    const std::shared_ptr<Session> session = Find(node);
    if (session == nullptr || Clock::now() - last < period) continue;
    // As with an error of a request: the next one that matters meets it again.
    std::ignore = CatchThrown(node, [&] {
      if (session->RequestIfIdle(script, kBeatLimit)) last = Clock::now();
    });
  }
}

// A thread per node: one that does not answer keeps no other waiting.
std::jthread Sessions::Beat(std::string script, std::chrono::milliseconds period) {
  return std::jthread([this, script = std::move(script), period](const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    for (const NodeName& node : ListOpen()) {
      threads.emplace_back(
          [this, node, &script, period, &stop] { BeatNode(node, script, period, stop); });
    }
  });
}

std::string Sessions::Nonce(const NodeName& node) const {
  const std::shared_ptr<Session> session = Find(node);
  return session == nullptr ? "" : session->nonce();
}

RoundTrips Sessions::FindMostRoundTrips() const {
  const std::lock_guard lock(mutex_);
  RoundTrips most;
  for (const auto& [name, session] : open_) {
    most.requests = std::max(most.requests, session->Requests());
    most.readings = std::max(most.readings, pool_.Runs(name));
  }
  return most;
}

}  // namespace reconciler
