#pragma once

#include <functional>
#include <string>

#include "reconciler/spark_verify/nccl/api.h"
#include "reconciler/spark_verify/nccl/gpu.h"
#include "reconciler/spark_verify/nccl/supervisor.h"

namespace reconciler::spark_verify {

// NCCL's communicator of this rank, never blocking: every call is begun, and its end is waited for
// with the phase's deadline, the orders and the communicator's own errors in view.
class Communicator {
 public:
  Communicator(const Nccl& nccl, const Gpu& gpu, Supervisor& supervisor)
      : nccl_(nccl), gpu_(gpu), supervisor_(supervisor) {}

  Step Init(const NcclId& id, int rank, int ranks);
  // `begin` makes one call of NCCL's that puts work into the stream. Returns once it is there.
  // what: for the failure ("all_reduce of 1048576 bytes").
  Step Launch(const char* call, const std::string& what, const std::function<int()>& begin);
  // Until everything in the stream is done.
  Step AwaitStream(const std::string& what);
  // Until nothing is on its way any more; frees what it holds.
  Step Finish();
  // Whatever state it is in. Seconds that it took.
  double Abort();

  const Nccl& nccl() const { return nccl_; }
  NcclComm handle() const { return comm_; }

 private:
  Step AwaitCall(const char* call, const std::string& what, int result);
  Step CheckState(const std::string& what) const;
  NcclFailure MakeCallFailure(const char* call, const std::string& what, int result,
                              int state) const;
  NcclFailure MakeFailure(std::string code, const char* call, const std::string& what, int result,
                          int async) const;

  const Nccl& nccl_;
  const Gpu& gpu_;
  Supervisor& supervisor_;
  NcclComm comm_ = nullptr;
  bool ready_ = false;  // its errors are no longer those of its own beginning
};

// Ends waits that go on: an order to stop, or the phase's time is over. `what` is named as what was
// wanted.
Step CheckTime(const Supervisor& supervisor, const char* call, const std::string& what);

}  // namespace reconciler::spark_verify
