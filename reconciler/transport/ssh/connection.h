#pragma once

#include <memory>

#include "reconciler/transport/ssh/config.h"
#include "reconciler/transport/ssh/socket.h"

namespace reconciler {

// One libssh session over one socket, never blocking: each step is repeated until it has its
// answer or the deadline passed. Shared by the transport and its channels, since libssh's channels
// must not outlive their session. Used by one thread at a time.
class SshConnection {
 public:
  // Connected and through the key exchange; the host key is not checked and no one logged in yet.
  // The configuration is read first, with a limit of its own.
  static Result<std::shared_ptr<SshConnection>> Open(const NodeSpec& node);

  const NodeSpec& Node() const { return node_; }
  const SshTarget& Target() const { return target_; }
  ssh_session Session() const { return session_.get(); }
  // For all until the login: connect_timeout_s after the configuration was read.
  Deadline LoginDeadline() const { return login_deadline_; }

  Error MakeError(std::string_view what, std::string hint = {}) const;
  // The connection broke, and why as far as it is known. `before`: how the message begins.
  Error MakeLostError(std::string_view before = {}) const;
  // What libssh said when the connection broke; its later errors hide it.
  const std::string& LastMessage() const { return last_message_; }
  bool Alive() const;

  // Calls `step`, a libssh function, until it returns something else than `again`.
  template <class Step>
  Result<int> Repeat(Step step, int again, Deadline deadline) const {
    for (;;) {
      const int result = step();
      AcknowledgePromptly();
      if (result != again) return result;
      if (!Alive()) return Fail(MakeLostError());  // libssh would say `again` for ever
      if (auto waited = Wait(deadline); !waited) return Fail(std::move(waited.error()));
    }
  }

  // Lets libssh do what the socket has for it now. All data reaches channels by their callbacks:
  // libssh's reading functions may take in data of one stream while they look at the other, which
  // poll() then no longer announces, and take in nothing once a channel's data is at its end.
  void Pump() const;
  // The same, waiting for the socket first.
  Result<void> Wait(Deadline deadline) const;

 private:
  explicit SshConnection(const NodeSpec& node) : node_(node) {}
  Result<void> ExchangeKeys(Deadline deadline);
  void AcknowledgePromptly() const;
  void Step(int timeout_ms) const;

  NodeSpec node_;
  SshTarget target_ = {};
  Deadline login_deadline_ = {};
  SshSocket socket_ = {};
  SshSession session_ = {};
  mutable std::string last_message_ = {};
  SshEvent event_ = {};  // after the session, so that it goes first
};

}  // namespace reconciler
