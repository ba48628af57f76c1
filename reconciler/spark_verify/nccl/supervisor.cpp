#include "reconciler/spark_verify/nccl/supervisor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace reconciler::spark_verify {
namespace {

using std::chrono::milliseconds;

constexpr int kRunFailed = 1;
constexpr milliseconds kTick(50);
// After a phase's end, for the rank's own thread to say so itself.
constexpr milliseconds kGrace(900);
// After an order to stop: NCCL's abort took up to 1 s where it was measured.
constexpr milliseconds kStopping(4000);
// After such an order, for calls that do not block: the controller waits 0.9 s for the answer.
constexpr milliseconds kReturning(500);

// What a signal handler may touch: no locks, no allocation.
int crash_fd = -1;
std::atomic<const char*>* crash_call = nullptr;
char crash_phase[96] = {};

void Append(char*& at, const char* end, const char* text) {
  while (*text != '\0' && at < end) *at++ = *text++;
}

void OnCrash(int signal) {
  char line[512];
  char* at = line;
  const char* end = line + sizeof line;
  const char* call = crash_call->load();
  char number[3] = {static_cast<char>('0' + signal / 10), static_cast<char>('0' + signal % 10), 0};
  Append(at, end, R"({"event":"failed","code":"crash","phase":")");
  Append(at, end, crash_phase);
  Append(at, end, R"(","call":")");
  Append(at, end, call);
  Append(at, end, R"(","result":0,"async":0,"last_error":"","text":"wanted )");
  Append(at, end, *call != '\0' ? call : "the libraries' threads");
  Append(at, end, R"( to work, found the process ended by signal )");
  Append(at, end, signal < 10 ? number + 1 : number);
  Append(at, end, "\",\"hint\":\"\"}\n");
  [[maybe_unused]] const ssize_t written =
      write(crash_fd, line, static_cast<std::size_t>(at - line));
  // The forwarder still runs and says what the library printed last.
  const timespec moment = {.tv_sec = 0, .tv_nsec = 100'000'000};
  nanosleep(&moment, nullptr);
  _exit(kRunFailed);
}

void CatchCrashes() {
  static char stack[64 << 10];
  const stack_t alternate = {.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = OnCrash;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

Supervisor::Supervisor(RankOutput& output) : output_(output) {
  crash_fd = output.fd();
  crash_call = &call_;
  CatchCrashes();
  watcher_ = std::thread([this] { Watch(); });
}

void Supervisor::Begin(const std::string& phase, Clock::time_point until) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  until_ = until;
  std::strncpy(crash_phase, phase.c_str(), sizeof crash_phase - 1);
}

std::string Supervisor::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

Clock::time_point Supervisor::until() const {
  const std::lock_guard lock(mutex_);
  return until_;
}

void Supervisor::EndWithin(milliseconds time) {
  const std::lock_guard lock(mutex_);
  last_ = std::min(last_, Clock::now() + time);
  until_ = Clock::time_point::max();
}

std::optional<NcclOrder> Supervisor::WaitOrder(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  heard_.wait_until(lock, until,
                    [this] { return stopped_ || !orders_.empty() || !unreadable_.empty(); });
  if (stopped_ || orders_.empty()) return std::nullopt;
  NcclOrder order = std::move(orders_.front());
  orders_.pop_front();
  return order;
}

std::optional<std::string> Supervisor::TakeUnreadable() {
  const std::lock_guard lock(mutex_);
  if (unreadable_.empty()) return std::nullopt;
  return std::exchange(unreadable_, {});
}

void Supervisor::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (last_ == Clock::time_point::max()) {
      stop_heard_ = Clock::now();
      call_then_ = call_.load();
    }
  }
  stopped_ = true;
  EndWithin(kStopping);
  heard_.notify_all();
}

void Supervisor::Receive(const std::string& line) {
  const auto order = ParseNcclOrder(line);
  if (order && order->command == NcclCommand::kAbort) return Stop();
  const std::lock_guard lock(mutex_);
  if (order) {
    orders_.push_back(*order);
  } else {
    unreadable_ = order.error().message;
  }
  heard_.notify_all();
}

bool Supervisor::IsOverdue() const {
  const std::lock_guard lock(mutex_);
  return Clock::now() > last_ ||
         (until_ != Clock::time_point::max() && Clock::now() > until_ + kGrace);
}

bool Supervisor::IsStuck() const {
  return stop_heard_ != Clock::time_point::max() && *call_then_ != '\0' && call_ == call_then_ &&
         Clock::now() > stop_heard_ + kReturning;
}

void Supervisor::ReportHung() {
  const std::string call = call_.load();
  output_.Say(FormatFailed(
      {.code = "hung",
       .phase = phase(),
       .call = call,
       .text = fmt::format("wanted {} to return in time, found it did not",
                           call.empty() ? "the phase " + phase() : call),
       .hint = "the process was ended; a driver or library that hangs needs a reboot at times"}));
}

void Supervisor::EndHung() {
  const bool silent = stopped_ || until() == Clock::time_point::max();
  if (IsStuck() || !silent) ReportHung();
  _exit(kRunFailed);
}

void Supervisor::Watch() {
  LineReader lines(STDIN_FILENO);
  while (true) {
    if (const auto line = lines.Next(Clock::now() + kTick)) {
      Receive(*line);
    } else if (lines.AtEnd() && !input_ended_) {
      input_ended_ = true;
      Stop();
    } else if (lines.AtEnd()) {
      std::this_thread::sleep_for(kTick);
    }
    if (IsOverdue() || IsStuck()) EndHung();
  }
}

}  // namespace reconciler::spark_verify
