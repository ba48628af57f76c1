#include "reconciler/transport/ssh/channel.h"

#include <fmt/format.h>
#include <libssh/callbacks.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <exception>
#include <map>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/transport/shell_command.h"
#include "reconciler/transport/ssh/transport.h"

namespace reconciler {
namespace {

constexpr std::size_t kMaxKept = 64u << 20;  // bytes that may arrive while a Write waits
constexpr std::size_t kWriteSize = 32768;    // bytes handed to libssh at once
// For each step of ending what a destroyed channel leaves behind, so at most four times that: over
// its connection, then the configuration and the login of another one, and over that.
constexpr int kEndLimitS = 3;

// Names as RFC 4254 section 6.10 has them, numbers as on Linux.
int FindSignalNumber(std::string_view name) {
  static const std::map<std::string_view, int> numbers = {
      {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"FPE", SIGFPE},   {"HUP", SIGHUP},   {"ILL", SIGILL},
      {"INT", SIGINT},   {"KILL", SIGKILL}, {"PIPE", SIGPIPE}, {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV},
      {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
  const auto found = numbers.find(name);
  return found == numbers.end() ? 0 : found->second;
}

class SshShell : public Channel {
 public:
  // `token` may be empty: then nothing is looked for when this channel is destroyed.
  SshShell(std::shared_ptr<SshConnection> connection, std::string token);
  ~SshShell() override;
  SshShell(const SshShell&) = delete;
  SshShell& operator=(const SshShell&) = delete;

  Result<void> Open(Deadline deadline);
  Result<void> Write(std::string_view bytes, Deadline deadline) override;
  Result<void> CloseInput() override;
  Result<Output> Read(Deadline deadline) override;

 private:
  bool IsOver() const { return exit_code_.has_value() && ssh_channel_is_eof(channel_) != 0; }
  Error MakeRefusedError() const;  // why no session came about
  void EndOnNode() const;          // all that carries the token
  // Whether a session came about over the connection.
  bool EndOver(std::shared_ptr<SshConnection> connection, Deadline deadline) const;
  Result<void> ReadAvailable();  // what arrived, into kept_
  std::size_t CountKept() const { return kept_.out.size() + kept_.err.size(); }

  std::shared_ptr<SshConnection> connection_;
  std::string token_;
  ssh_channel channel_ = nullptr;
  ssh_channel_callbacks_struct callbacks_ = {};
  bool running_ = false;
  bool exit_returned_ = false;
  std::optional<int> exit_code_ = std::nullopt;
  Output kept_ = {};  // arrived, not handed out by Read yet
};

SshShell::SshShell(std::shared_ptr<SshConnection> connection, std::string token)
    : connection_(std::move(connection)), token_(std::move(token)) {
  callbacks_.userdata = this;
  callbacks_.channel_data_function = [](ssh_session, ssh_channel, void* data, std::uint32_t size,
                                        int is_err, void* self) {
    Output& kept = static_cast<SshShell*>(self)->kept_;
    (is_err != 0 ? kept.err : kept.out).append(static_cast<const char*>(data), size);
    return static_cast<int>(size);
  };
  callbacks_.channel_exit_status_function = [](ssh_session, ssh_channel, int status, void* self) {
    static_cast<SshShell*>(self)->exit_code_ = status;
  };
  callbacks_.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* signal, int,
                                               const char*, const char*, void* self) {
    static_cast<SshShell*>(self)->exit_code_ = 128 + FindSignalNumber(signal);
  };
  ssh_callbacks_init(&callbacks_);
}

SshShell::~SshShell() {
  if (channel_ == nullptr) return;
  if (running_ && !token_.empty() && !IsOver()) (void)ReadAvailable();
  const bool still_runs = running_ && !token_.empty() && !IsOver() && connection_->Alive();
  ssh_remove_channel_callbacks(channel_, &callbacks_);
  ssh_channel_free(channel_);
  if (still_runs) EndOnNode();
}

// sshd ends nothing when a channel closes, and its signals do not reach what sudo started. With
// `MaxSessions 1` the old session stays taken meanwhile: then by a login of its own.
void SshShell::EndOnNode() const {
  constexpr std::chrono::seconds kLimit{kEndLimitS};
  const Deadline deadline = std::chrono::steady_clock::now() + kLimit;
  try {
    if (EndOver(connection_, deadline)) return;
    // A node that did not answer would not let us in either.
    if (!connection_->Alive() || ComputeMillisecondsLeft(deadline) == 0) return;
    NodeSpec node = connection_->Node();
    node.access.connect_timeout_s = kEndLimitS;
    if (auto another = ConnectSsh(node)) {
      (void)EndOver(std::move(*another), std::chrono::steady_clock::now() + kLimit);
    }
  } catch (const std::exception&) {
    // A destructor is the caller; the node's own limits end what is left.
  }
}

bool SshShell::EndOver(std::shared_ptr<SshConnection> connection, Deadline deadline) const {
  SshShell end(std::move(connection), "");
  if (!end.Open(deadline)) return false;
  (void)RunScriptOn(end, BuildEndShellScript(token_),
                    Milliseconds(ComputeMillisecondsLeft(deadline)));
  return true;
}

Result<void> SshShell::Open(Deadline deadline) {
  channel_ = ssh_channel_new(connection_->Session());
  if (channel_ == nullptr) return Fail(MakeRefusedError());
  ssh_add_channel_callbacks(channel_, &callbacks_);
  auto answer =
      connection_->Repeat([&] { return ssh_channel_open_session(channel_); }, SSH_AGAIN, deadline);
  if (answer && *answer == SSH_OK) {
    const std::string command = BuildRemoteShellCommand(connection_->Node().access, token_);
    answer = connection_->Repeat(
        [&] { return ssh_channel_request_exec(channel_, command.c_str()); }, SSH_AGAIN, deadline);
  }
  if (!answer) return Fail(answer.error());
  if (*answer != SSH_OK) return Fail(MakeRefusedError());
  running_ = true;
  return Write(BuildShellInput(connection_->Node().access, false), deadline);
}

Error SshShell::MakeRefusedError() const {
  if (!connection_->Alive()) return connection_->MakeLostError();
  return connection_->MakeError(fmt::format("the node opens no session: {}",
                                            MakePrintable(ssh_get_error(connection_->Session()))),
                                "MaxSessions in its sshd_config may be too small");
}

Result<void> SshShell::ReadAvailable() {
  const std::size_t first = CountKept();
  // At most 1 MiB at a time, so that a flood reaches the caller who limits it.
  for (std::size_t before = first;; before = CountKept()) {
    connection_->Pump();
    if (CountKept() == before || CountKept() - first > (1u << 20)) break;
  }
  if (CountKept() > kMaxKept) {
    return Fail(connection_->MakeError("more than 64 MiB of output before the script was read"));
  }
  return {};
}

Result<void> SshShell::Write(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty() && !IsOver()) {
    if (auto taken = ReadAvailable(); !taken) return taken;
    const auto size = static_cast<std::uint32_t>(std::min(bytes.size(), kWriteSize));
    const int written = ssh_channel_write(channel_, bytes.data(), size);
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (!connection_->Alive()) return Fail(connection_->MakeLostError());
    if (ssh_channel_is_closed(channel_) != 0) return {};
    // Nothing may look at the socket between the write that found no room and this.
    if (auto waited = connection_->Wait(deadline); !waited) return waited;
  }
  return {};
}

Result<void> SshShell::CloseInput() {
  if (ssh_channel_is_closed(channel_) != 0) return {};  // the process ended already
  if (ssh_channel_send_eof(channel_) != SSH_OK && !connection_->Alive()) {
    return Fail(connection_->MakeLostError());
  }
  return {};
}

Result<Channel::Output> SshShell::Read(Deadline deadline) {
  if (exit_returned_) return Fail(connection_->MakeError("the shell ended already"));
  for (;;) {
    if (auto taken = ReadAvailable(); !taken) return Fail(std::move(taken.error()));
    if (CountKept() > 0) return std::exchange(kept_, {});
    if (IsOver()) {
      exit_returned_ = true;
      return Output{.exit_code = exit_code_};
    }
    // Closed without an exit code: what runs the session there was killed.
    if (!connection_->Alive() || ssh_channel_is_closed(channel_) != 0) {
      return Fail(connection_->MakeLostError());
    }
    if (auto waited = connection_->Wait(deadline); !waited) return Fail(std::move(waited.error()));
  }
}

}  // namespace

Result<std::unique_ptr<Channel>> OpenSshShell(std::shared_ptr<SshConnection> connection) {
  const int limit_s = connection->Node().access.connect_timeout_s;
  const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(limit_s);
  auto shell = std::make_unique<SshShell>(std::move(connection), MakeShellToken());
  if (auto opened = shell->Open(deadline); !opened) {
    if (opened.error().hint.empty() && ComputeMillisecondsLeft(deadline) == 0) {
      opened.error().hint = fmt::format("the limit was {} s (connect_timeout_s)", limit_s);
    }
    return Fail(std::move(opened.error()));
  }
  return shell;
}

}  // namespace reconciler
