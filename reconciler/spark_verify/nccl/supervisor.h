#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "reconciler/spark_verify/io/line_reader.h"
#include "reconciler/spark_verify/nccl/rank_output.h"
#include "reconciler/spark_verify/protocol/nccl_messages.h"

namespace reconciler::spark_verify {

// Reads the orders, and ends the process when the rank's own thread does not do so in time: a call
// into a library may never return.
class Supervisor {
 public:
  explicit Supervisor(RankOutput& output);
  Supervisor(const Supervisor&) = delete;
  ~Supervisor() = delete;  // lives until _exit

  // The phase must end by then. It is the rank's own thread that looks; only when it is still in
  // the phase some time later is it called hung.
  void Begin(const std::string& phase, Clock::time_point until);
  std::string phase() const;
  Clock::time_point until() const;

  // A literal: the call that is being made; "" after it.
  void RecordCall(const char* call) { call_ = call; }
  // From here on the process has this long, whatever happens.
  void EndWithin(std::chrono::milliseconds time);

  // An abort was ordered, or the input ended.
  bool IsStopped() const { return stopped_; }
  bool HasInputEnded() const { return input_ended_; }
  // The next order that is no abort; nullopt: none by then, or Stopped().
  std::optional<NcclOrder> WaitOrder(Clock::time_point until);
  // A line that was no order, once.
  std::optional<std::string> TakeUnreadable();

 private:
  void Watch();
  void Receive(const std::string& line);
  void Stop();
  bool IsOverdue() const;
  // Still in the call in which the order to stop found it, so that it does not come to abort.
  bool IsStuck() const;
  void ReportHung();
  [[noreturn]] void EndHung();

  RankOutput& output_;
  mutable std::mutex mutex_ = {};
  std::condition_variable heard_ = {};
  std::deque<NcclOrder> orders_ = {};
  std::string unreadable_ = {};
  std::string phase_ = {};
  Clock::time_point until_ = Clock::time_point::max();
  Clock::time_point last_ = Clock::time_point::max();  // then the process ends without a message
  std::atomic<const char*> call_ = "";
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> input_ended_ = false;
  // By watcher_ alone: the first order to stop, if nothing else had ended the rank before.
  Clock::time_point stop_heard_ = Clock::time_point::max();
  const char* call_then_ = "";
  std::thread watcher_ = {};
};

}  // namespace reconciler::spark_verify
