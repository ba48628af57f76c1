#include "reconciler/spark_verify/nccl/communicator.h"

#include <fmt/format.h>
#include <sched.h>

#include <thread>

namespace reconciler::spark_verify {
namespace {

// Turns at first, when an answer is near; later it leaves the processor to those who work for it.
class Pause {
 public:
  void Wait() {
    if (Clock::now() - began_ < std::chrono::milliseconds(5)) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

 private:
  const Clock::time_point began_ = Clock::now();
};

std::string Known(const char* text) { return text != nullptr ? text : ""; }

}  // namespace

Step CheckTime(const Supervisor& supervisor, const char* call, const std::string& what) {
  if (supervisor.IsStopped()) {
    return tl::unexpected<NcclFailure>({.code = "controller-gone", .text = "the input ended"});
  }
  if (Clock::now() < supervisor.until()) return {};
  return tl::unexpected<NcclFailure>(
      {.code = "deadline",
       .phase = supervisor.phase(),
       .call = call,
       .text = fmt::format("wanted {}, found it still in progress when its time was over", what)});
}

NcclFailure Communicator::MakeFailure(std::string code, const char* call, const std::string& what,
                                      int result, int async) const {
  NcclFailure failure{.code = std::move(code),
                      .phase = supervisor_.phase(),
                      .call = call,
                      .result = result,
                      .async = async,
                      .last_error = Known(nccl_.last_error(comm_))};
  const int cause = result != kNcclSuccess && result != kNcclInProgress ? result : async;
  failure.text = fmt::format("wanted {}, found {}{}{}", what, NameNcclResult(cause),
                             failure.last_error.empty() ? "" : ": ", failure.last_error);
  return failure;
}

// A communicator that broke earlier refuses the next call with its own error.
NcclFailure Communicator::MakeCallFailure(const char* call, const std::string& what, int result,
                                          int state) const {
  if (ready_ && state == kNcclSuccess) nccl_.async_error(comm_, &state);
  const bool broken = state != kNcclSuccess && state != kNcclInProgress;
  return MakeFailure(ready_ && broken ? "async" : "nccl", call, what, result, state);
}

// With a communicator that does not block, a call has begun when it says so, and has done its part
// when the communicator says success.
Step Communicator::AwaitCall(const char* call, const std::string& what, int result) {
  if (result != kNcclSuccess && result != kNcclInProgress) {
    return tl::unexpected(MakeCallFailure(call, what, result, kNcclSuccess));
  }
  for (Pause pause; result == kNcclInProgress; pause.Wait()) {
    int state = kNcclInProgress;
    const int queried = nccl_.async_error(comm_, &state);
    if (queried != kNcclSuccess) return tl::unexpected(MakeCallFailure(call, what, queried, state));
    if (state == kNcclSuccess) return {};
    if (state != kNcclInProgress) return tl::unexpected(MakeCallFailure(call, what, result, state));
    if (auto step = CheckTime(supervisor_, call, what); !step) return step;
  }
  return {};
}

Step Communicator::Init(const NcclId& id, int rank, int ranks) {
  constexpr const char* kCall = "ncclCommInitRankConfig";
  NcclConfig config;
  supervisor_.RecordCall(kCall);
  const int result = nccl_.init_rank(&comm_, ranks, id, rank, &config);
  auto step = AwaitCall(kCall, fmt::format("NCCL's communicator of {} ranks", ranks), result);
  supervisor_.RecordCall("");
  ready_ = step.has_value();
  return step;
}

Step Communicator::Launch(const char* call, const std::string& what,
                          const std::function<int()>& begin) {
  supervisor_.RecordCall(call);
  const int result = begin();
  auto step = AwaitCall(call, what, result);
  supervisor_.RecordCall("");
  return step;
}

Step Communicator::CheckState(const std::string& what) const {
  int state = kNcclSuccess;
  const int queried = nccl_.async_error(comm_, &state);
  if (queried == kNcclSuccess && (state == kNcclSuccess || state == kNcclInProgress)) return {};
  return tl::unexpected(MakeFailure("async", "ncclCommGetAsyncError", what, queried, state));
}

Step Communicator::AwaitStream(const std::string& what) {
  for (Pause pause;; pause.Wait()) {
    const int state = gpu_.cuda().stream_query(gpu_.stream());
    if (state != 0 && state != kCuNotReady) {
      return tl::unexpected(gpu_.Failure("cuStreamQuery", state));
    }
    if (comm_ != nullptr) {
      // Also after the stream has ended: a broken communicator ends its work at once.
      if (auto step = CheckState(what); !step) return step;
    }
    if (state == 0) return {};
    if (auto step = CheckTime(supervisor_, "", what); !step) return step;
  }
}

Step Communicator::Finish() {
  const std::string what = "the communicator at rest";
  auto step = Launch("ncclCommFinalize", what, [this] { return nccl_.finalize(comm_); });
  if (!step) return step;
  supervisor_.RecordCall("ncclCommDestroy");
  const int result = nccl_.destroy(comm_);
  supervisor_.RecordCall("");
  if (result == kNcclSuccess || result == kNcclInProgress) {
    comm_ = nullptr;
    return {};
  }
  return tl::unexpected(MakeFailure("nccl", "ncclCommDestroy", what, result, kNcclSuccess));
}

double Communicator::Abort() {
  const auto began = Clock::now();
  if (comm_ != nullptr) {
    supervisor_.RecordCall("ncclCommAbort");
    nccl_.abort(comm_);
    supervisor_.RecordCall("");
    comm_ = nullptr;
  }
  return std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace reconciler::spark_verify
