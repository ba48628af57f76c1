#pragma once

#include <libssh/libssh.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "reconciler/transport/posix.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

// The public half of a key that an agent has.
struct AgentKey {
  std::string blob = {};         // RFC 4253 section 6.6
  std::string public_half = {};  // the same in base64, as authorized_keys has it
};

// A connection to an ssh-agent.
class SshAgent {
 public:
  // Nothing when no agent is at the path of the socket, or when it does not list its keys;
  // `is_silent`: it is there, but the deadline passed. An agent that waits for a confirmation
  // answers no one else meanwhile.
  static std::optional<SshAgent> Connect(const std::string& socket, Deadline deadline,
                                         bool& is_silent);

  // Without those that libssh cannot read: it would pass over all keys behind one.
  const std::vector<AgentKey>& Keys() const { return keys_; }
  // Messages are without their lengths. Nothing: the deadline passed, or the agent ended.
  std::optional<std::string> Exchange(std::string_view request, Deadline deadline) const;

 private:
  explicit SshAgent(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::vector<AgentKey> keys_ = {};
};

// Stands between libssh and an agent during one login. On its own libssh offers all keys of an
// agent in the agent's order, and waits for a signature without a limit.
class AgentRelay {
 public:
  // libssh sees `keys` only, in their order, and gets no signature after the deadline.
  AgentRelay(SshAgent agent, std::vector<AgentKey> keys, Deadline deadline)
      : agent_(std::move(agent)), keys_(std::move(keys)), deadline_(deadline) {}
  ~AgentRelay();
  AgentRelay(const AgentRelay&) = delete;
  AgentRelay& operator=(const AgentRelay&) = delete;

  // Becomes the agent of the session; once. false: the system has no sockets left.
  bool Serve(ssh_session session);

  // How the last signature ended that libssh requested, since this was called before. kRefused:
  // libssh gave up; when it starts again, it sees the keys behind the refused one.
  enum class Signing { kNone, kSigned, kRefused, kTooLate };
  Signing TakeLastSigning() { return last_signing_.exchange(Signing::kNone); }
  std::string LastRefused() const;  // the public half of that key

 private:
  void AnswerAll();
  std::string Answer(std::string_view request);
  std::string Sign(std::string_view request);
  void PassOver(std::string_view sign_request);

  SshAgent agent_;
  std::vector<AgentKey> keys_;  // of thread_ alone, once it runs
  Deadline deadline_;
  UniqueFd end_ = {};  // ours of a pair; libssh has the other one
  std::atomic<Signing> last_signing_ = Signing::kNone;
  mutable std::mutex mutex_ = {};
  std::string last_refused_ = {};  // guarded by mutex_
  std::thread thread_ = {};
};

}  // namespace reconciler
