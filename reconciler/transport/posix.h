#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

// Owns one file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { Reset(); }

  int Get() const { return fd_; }
  bool Open() const { return fd_ >= 0; }
  int Release();
  void Reset();

 private:
  int fd_ = -1;
};

struct Pipe {
  UniqueFd read = {};
  UniqueFd write = {};
};
Result<Pipe> MakePipe();  // both ends close on exec

// What poll() takes: rounded up, 0 when the deadline passed.
int ComputeMillisecondsLeft(Deadline deadline);

// While one lives, a write to a closed pipe or socket in this thread is EPIPE and no signal.
class SigpipeBlock {
 public:
  SigpipeBlock();
  ~SigpipeBlock();
  SigpipeBlock(const SigpipeBlock&) = delete;
  SigpipeBlock& operator=(const SigpipeBlock&) = delete;

 private:
  sigset_t before_ = {};
  bool was_pending_ = false;
};

// File descriptors that become a child's 0, 1 and 2; everything else is closed in it.
struct ChildStreams {
  int in = -1;
  int out = -1;
  int err = -1;
};

// A child process in a session of its own: no terminal, so that nothing in it can prompt, and a
// process group that can be ended as one. Destroying it kills the group and reaps the child.
class Child {
 public:
  static Result<Child> Spawn(const std::vector<std::string>& argv, ChildStreams streams);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // The exit code (128 + n for signal n), once it ended; nothing when the deadline passed first.
  // 127 where SIGCHLD is ignored, since no one can read it then.
  std::optional<int> Wait(Deadline deadline);
  bool Running() const { return pid_ > 0; }  // not reaped yet
  void Kill();

 private:
  Child(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid_ = -1;
  UniqueFd pidfd_ = {};
};

}  // namespace reconciler
