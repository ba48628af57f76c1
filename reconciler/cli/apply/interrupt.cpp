#include "reconciler/cli/apply/interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <string_view>

#include "reconciler/cli/exit_code.h"

namespace reconciler::cli {
namespace {

// One word holds phase and interrupt, so that no interrupt comes between a look at one and a change
// of the other.
constexpr int kBit = 16;
std::atomic<int> state = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal's handler uses it");
std::atomic<int> revert_after = 0;
std::atomic<int> moment = 0;
std::atomic<bool> is_terminal = false;  // which shows "^C", without a new line
std::atomic<const EndedLine*> ended_line = nullptr;
static_assert(std::atomic<const EndedLine*>::is_always_lock_free, "a signal's handler uses it");

InterruptPhase GetPhase(int of) { return static_cast<InterruptPhase>(of & ~kBit); }

// A line that is put together in a handler: no memory is taken, and no lock.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t count = std::min(text.size(), text_.size() - size_);
    std::copy_n(text.begin(), count, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += count;
    return *this;
  }
  Line& operator<<(long number) { return Add(number, 1); }
  Line& AddTime(std::time_t time) {  // "23:57:01"
    constexpr long kDay = 86400;
    const long second = static_cast<long>(time) % kDay;
    Add(second / 3600, 2) << ":";
    Add(second / 60 % 60, 2) << ":";
    return Add(second % 60, 2);
  }
  Line& AddDate(std::time_t time) {  // "2026-11-24"
    const std::chrono::sys_seconds at{std::chrono::seconds(time)};
    const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(at)};
    *this << static_cast<long>(int{date.year()}) << "-";
    Add(static_cast<long>(unsigned{date.month()}), 2) << "-";
    return Add(static_cast<long>(unsigned{date.day()}), 2);
  }
  Line& Add(long number, std::size_t width) {  // with zeros before it
    std::array<char, 20> digits{};
    std::size_t at = digits.size();
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0 || digits.size() - at < width);
    return *this << std::string_view(digits.data() + at, digits.size() - at);
  }
  void Write(int fd) const { static_cast<void>(!write(fd, text_.data(), size_)); }

 private:
  std::array<char, 512> text_{};
  std::size_t size_ = 0;
};

Line BeginMessage() {
  Line line;
  line << (is_terminal ? "\n" : "");
  return line;
}

void SayFirst(InterruptPhase phase) {
  Line line = BeginMessage();
  switch (phase) {
    case InterruptPhase::kNone:
      return;
    case InterruptPhase::kBefore:
      line << "interrupted: nothing was applied\n";
      break;
    case InterruptPhase::kEnd:
      line << "the earlier apply is being ended: this stops when it has, and applies nothing\n";
      break;
    case InterruptPhase::kTrial:
      line << "stopping before the next stage, then every node reverts\n";
      break;
    case InterruptPhase::kRevert:
      line << "every node is reverting: this ends when they have\n";
      break;
    case InterruptPhase::kCommit:
      line << "the commit has begun: it is completed, and the apply stays\n";
      break;
    case InterruptPhase::kVerify:
    case InterruptPhase::kCheck:
      line << DescribeInterruptedVerification(phase == InterruptPhase::kVerify);
      break;
  }
  line.Write(STDERR_FILENO);
}

// The nodes' own clocks may differ: the time is this machine's, which the reader looks at.
void SaySecond(InterruptPhase phase) {
  const int limit = revert_after;
  Line line = BeginMessage();
  if (phase == InterruptPhase::kEnd) {
    line << "stopped before the earlier apply was ended: each node goes on ending it on its own\n";
  } else if (phase == InterruptPhase::kCommit) {
    line << "ended during the commit: a node that has committed stays so; any other decides on its "
            "own, when nothing was heard for "
         << limit << " s (at ";
    line.AddTime(std::time(nullptr) + limit)
        << " UTC) and " << moment
        << " s more: it commits where its peers answer, else it reverts\n";
  } else {
    line << "ended before the nodes have reverted: each reverts on its own, when nothing was heard "
            "for "
         << limit << " s (at ";
    line.AddTime(std::time(nullptr) + limit) << " UTC; later where a step takes longer)\n";
  }
  line << "  hint: `status` names what is unfinished, and the next apply ends it first\n";
  line.Write(STDERR_FILENO);
}

// Only the handler that takes the line writes it.
void WriteEnded(int exit_code) {
  const EndedLine* ended = ended_line.exchange(nullptr);
  if (ended == nullptr) return;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  Line line;
  line << ended->before_time;
  line.AddDate(now.tv_sec) << "T";
  line.AddTime(now.tv_sec) << ".";
  line.Add(now.tv_nsec / 1'000'000, 3) << "Z" << ended->after_time;
  line << static_cast<long>(exit_code) << ended->after_code;
  line.Write(ended->fd);
}

// As the caller expects it of a program that was interrupted.
void EndBy(int signal) {
  constexpr int kBySignal = 128;  // what a shell adds to the signal's number
  WriteEnded(kBySignal + signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void OnInterrupt(int signal) {
  const int before = state.fetch_or(kBit);
  const InterruptPhase phase = GetPhase(before);
  if (phase == InterruptPhase::kBefore) {
    SayFirst(phase);
    EndBy(signal);
    return;
  }
  const bool is_verification = phase == InterruptPhase::kVerify || phase == InterruptPhase::kCheck;
  if ((before & kBit) == 0 || is_verification) {
    SayFirst(phase);
    if (!is_verification) return;
    WriteEnded(kNotMeasured);
    _exit(kNotMeasured);
  }
  SaySecond(phase);
  EndBy(signal);
}

}  // namespace

void EnterInterruptPhase(InterruptPhase phase) {
  is_terminal = isatty(STDERR_FILENO) == 1;
  int before = state;
  for (;;) {
    const bool stops = phase == InterruptPhase::kCommit && (before & kBit) != 0 &&
                       GetPhase(before) == InterruptPhase::kTrial;
    if (stops) return;
    const int bit = phase == InterruptPhase::kNone ? 0 : before & kBit;
    if (state.compare_exchange_weak(before, static_cast<int>(phase) | bit)) break;
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, phase == InterruptPhase::kNone ? SIG_DFL : OnInterrupt);
  }
}

bool IsInterrupted() { return (state & kBit) != 0; }

bool IsApplyStopped() {
  const int now = state;
  return (now & kBit) != 0 && GetPhase(now) != InterruptPhase::kCommit;
}

void SetInterruptTimes(const InterruptTimes& times) {
  revert_after = times.revert_after_s;
  moment = times.moment_s;
}

bool SetEndedLine(const EndedLine* before, const EndedLine* line) {
  return ended_line.compare_exchange_strong(before, line);
}

std::string_view DescribeInterruptedVerification(bool applied) {
  return applied ? "the apply is committed on every node and stays; only its verification was "
                   "interrupted\n  hint: `verify` runs it\n"
                 : "nothing had to be applied; only the verification was interrupted\n"
                   "  hint: `verify` runs it\n";
}

}  // namespace reconciler::cli
