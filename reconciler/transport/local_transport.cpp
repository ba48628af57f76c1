#include "reconciler/transport/local_transport.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "reconciler/transport/posix.h"
#include "reconciler/transport/shell_command.h"

namespace reconciler {
namespace {

constexpr std::size_t kMaxKept = 64u << 20;  // bytes that may arrive while a Write waits
constexpr Milliseconds kEndLimit{5000};      // for ending what a destroyed channel leaves behind

Error MakeLocalError(const NodeSpec& node, std::string_view what) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{} (this machine): {}", node.name, what)};
}

class LocalChannel : public Channel {
 public:
  LocalChannel(const NodeSpec& node, std::string token, Child child, UniqueFd in, UniqueFd out,
               UniqueFd err)
      : node_(node),
        token_(std::move(token)),
        child_(std::move(child)),
        in_(std::move(in)),
        out_(std::move(out)),
        err_(std::move(err)) {}
  ~LocalChannel() override;

  Result<void> Write(std::string_view bytes, Deadline deadline) override;
  Result<void> CloseInput() override {
    in_.Reset();
    return {};
  }
  Result<Output> Read(Deadline deadline) override;

 private:
  // Until the shell takes some of `to_write` or says something; moves what there is.
  Result<void> Wait(std::string_view& to_write, Deadline deadline);
  void ReadAvailable(UniqueFd& stream, std::string& into);
  void WriteSome(std::string_view& bytes);

  NodeSpec node_;
  std::string token_;  // empty: nothing to look for when this channel is destroyed
  Child child_;
  UniqueFd in_, out_, err_;  // closed when the other side closed them
  Output kept_;              // arrived, not handed out by Read yet
};

Result<std::unique_ptr<LocalChannel>> OpenLocalShell(const NodeSpec& node, std::string token) {
  auto in = MakePipe();
  auto out = MakePipe();
  auto err = MakePipe();
  for (const auto* pipe : {&in, &out, &err}) {
    if (!*pipe) return Fail(MakeLocalError(node, pipe->error().message));
  }
  auto child = Child::Spawn(BuildLocalShellArgv(node.access, geteuid() == 0, token),
                            {in->read.Get(), out->write.Get(), err->write.Get()});
  if (!child) return Fail(MakeLocalError(node, child.error().message));
  for (const int fd : {in->write.Get(), out->read.Get(), err->read.Get()}) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  auto shell = std::make_unique<LocalChannel>(node, std::move(token), std::move(*child),
                                              std::move(in->write), std::move(out->read),
                                              std::move(err->read));
  const std::string input = BuildShellInput(node.access, geteuid() == 0);
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(node.access.connect_timeout_s);
  if (auto written = shell->Write(input, deadline); !written) return Fail(written.error());
  return shell;
}

LocalChannel::~LocalChannel() {
  if (token_.empty() || !child_.Running()) return;
  if (child_.Wait(std::chrono::steady_clock::now())) return;
  // Through a shell of the same kind, since root's processes are not ours to kill.
  if (auto shell = OpenLocalShell(node_, "")) {
    (void)RunScriptOn(**shell, BuildEndShellScript(token_), kEndLimit);
  }
}

void LocalChannel::WriteSome(std::string_view& bytes) {
  const ssize_t count = write(in_.Get(), bytes.data(), bytes.size());
  if (count >= 0) {
    bytes.remove_prefix(static_cast<std::size_t>(count));
  } else if (errno != EAGAIN && errno != EINTR) {
    in_.Reset();  // EPIPE: no one reads any more
  }
}

void LocalChannel::ReadAvailable(UniqueFd& stream, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(stream.Get(), buffer.data(), buffer.size());
  if (count > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    stream.Reset();
  }
}

Result<void> LocalChannel::Wait(std::string_view& to_write, Deadline deadline) {
  const int left = ComputeMillisecondsLeft(deadline);
  if (left == 0) return Fail(MakeLocalError(node_, "the time limit passed"));
  // poll() passes over descriptors below zero, which closed ones are.
  std::array<pollfd, 3> fds = {{{to_write.empty() ? -1 : in_.Get(), POLLOUT, 0},
                                {out_.Get(), POLLIN, 0},
                                {err_.Get(), POLLIN, 0}}};
  if (poll(fds.data(), fds.size(), left) <= 0) return {};
  if (fds[0].revents != 0) WriteSome(to_write);
  if (fds[1].revents != 0) ReadAvailable(out_, kept_.out);
  if (fds[2].revents != 0) ReadAvailable(err_, kept_.err);
  return {};
}

Result<void> LocalChannel::Write(std::string_view bytes, Deadline deadline) {
  const SigpipeBlock no_sigpipe;
  while (!bytes.empty() && in_.Open()) {
    if (auto waited = Wait(bytes, deadline); !waited) return waited;
    if (kept_.out.size() + kept_.err.size() > kMaxKept) {
      return Fail(MakeLocalError(node_, "more than 64 MiB of output before the script was read"));
    }
  }
  return {};
}

Result<Channel::Output> LocalChannel::Read(Deadline deadline) {
  std::string_view nothing;
  while (kept_.out.empty() && kept_.err.empty() && (out_.Open() || err_.Open())) {
    if (auto done = Wait(nothing, deadline); !done) return Fail(std::move(done.error()));
  }
  if (!kept_.out.empty() || !kept_.err.empty()) return std::exchange(kept_, {});
  if (!child_.Running()) return Fail(MakeLocalError(node_, "the shell ended already"));
  kept_.exit_code = child_.Wait(deadline);
  if (!kept_.exit_code) return Fail(MakeLocalError(node_, "the time limit passed"));
  return std::exchange(kept_, {});
}

class LocalTransport : public Transport {
 public:
  explicit LocalTransport(const NodeSpec& node) : node_(node) {}
  Result<std::unique_ptr<Channel>> OpenShell() override {
    return OpenLocalShell(node_, MakeShellToken());
  }

 private:
  NodeSpec node_;
};

}  // namespace

Result<std::unique_ptr<Transport>> DialLocal(const NodeSpec& node) {
  return std::make_unique<LocalTransport>(node);
}

}  // namespace reconciler
