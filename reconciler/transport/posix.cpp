#include "reconciler/transport/posix.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

namespace reconciler {
namespace {

// What a shell has for a program that it could not run.
constexpr int kUnknownExitCode = 127;

Error MakeSystemError(const std::string& what, int code) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {}", what, std::generic_category().message(code))};
}

sigset_t MakeSigpipeSet() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

// Signals as a fresh program expects them, whatever this thread blocks at the moment.
void SetSpawnAttributes(posix_spawnattr_t* attributes) {
  sigset_t defaults = MakeSigpipeSet();
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(attributes, &defaults);
  posix_spawnattr_setsigmask(attributes, &none);
  posix_spawnattr_setflags(attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = other.Release();
  }
  return *this;
}

int UniqueFd::Release() { return std::exchange(fd_, -1); }

void UniqueFd::Reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Fail(MakeSystemError("cannot make a pipe", errno));
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

int ComputeMillisecondsLeft(Deadline deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<Milliseconds::rep>(left.count(), 0, INT_MAX));
}

SigpipeBlock::SigpipeBlock() {
  sigset_t pending;
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGPIPE) == 1;
  const sigset_t set = MakeSigpipeSet();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

SigpipeBlock::~SigpipeBlock() {
  if (!was_pending_) {
    const sigset_t set = MakeSigpipeSet();
    const timespec now = {};
    while (sigtimedwait(&set, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Result<Child> Child::Spawn(const std::vector<std::string>& argv, ChildStreams streams) {
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, streams.in, 0);
  posix_spawn_file_actions_adddup2(&actions, streams.out, 1);
  posix_spawn_file_actions_adddup2(&actions, streams.err, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  SetSpawnAttributes(&attributes);
  pid_t pid = -1;
  const int failed =
      posix_spawnp(&pid, words.front(), &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return Fail(MakeSystemError(fmt::format("cannot run '{}'", argv.front()), failed));
  }
  return Child(pid, UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

Child::~Child() {
  if (pid_ <= 0) return;
  Kill();
  // Bounded: a child that became another user does not die by our signal.
  (void)Wait(std::chrono::steady_clock::now() + std::chrono::seconds(2));
}

void Child::Kill() {
  if (pid_ > 0) kill(-pid_, SIGKILL);
}

std::optional<int> Child::Wait(Deadline deadline) {
  for (;;) {
    int status = 0;
    const pid_t reaped = waitpid(pid_, &status, WNOHANG);
    if (reaped < 0 && errno == ECHILD) {  // the kernel has it, where SIGCHLD is ignored
      pid_ = -1;
      return kUnknownExitCode;
    }
    if (reaped == pid_) {
      pid_ = -1;
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    const int left = ComputeMillisecondsLeft(deadline);
    if (left == 0) return std::nullopt;
    // A kernel without pidfd (before 5.3) is queried again every few milliseconds.
    pollfd ended = {.fd = pidfd_.Get(), .events = POLLIN, .revents = 0};
    poll(&ended, 1, pidfd_.Open() ? left : std::min(left, 5));
  }
}

}  // namespace reconciler
