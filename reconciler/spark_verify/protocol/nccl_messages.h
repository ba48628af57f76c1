#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/spark_verify/protocol/messages.h"
#include "reconciler/spark_verify/protocol/nccl_options.h"

namespace reconciler::spark_verify {

// What `spark-verify nccl` prints, one JSON object per line, and what it reads on stdin:
//
//   rank → controller                      controller → rank
//   hello
//   unique-id (rank 0 only)
//                                          id      (to every rank, 0 as well: begin init)
//   init-done
//                                          go      (when every rank has said init-done)
//   connected  (a first small all_reduce)
//   result …   (one per test and placement)
//   end        (exit status 0)
//
// log may stand anywhere. failed may come instead of any; nothing but log comes after it, and the
// status is 1. An abort is answered with aborted (status 1). The end of stdin ends a rank like an
// abort that no one hears answered. A rank that prints nothing more has been killed or stopped: its
// channel's end or the controller's own limit shows it.
enum class NcclEvent {
  kHello,
  kUniqueId,
  kInitDone,
  kConnected,
  kResult,
  kLog,
  kFailed,
  kAborted,
  kEnd
};
std::string_view ToString(NcclEvent event);

struct BusyProcess {
  int pid = 0;
  std::string name = {};    // of its command; "" when it is not to be seen
  std::uint64_t bytes = 0;  // of GPU memory; 0: not reported
};

// What was found before anything was done. Sent also when it is refused; failed follows then.
struct NcclHello {
  int rank = 0;
  int pid = 0;
  std::string host = {};            // nodename
  std::string library = {};         // the file of libnccl that was really loaded
  int nccl_version = 0;             // as ncclGetVersion: 22809; 2.8 and older: 2809
  int cuda_driver = 0;              // as cuDriverGetVersion: 13000
  std::string gpu = {};             // its name
  std::string pci = {};             // its bus id
  int compute = 0;                  // 121 is 12.1
  bool integrated = false;          // GPU and processor share their memory
  int gpu_direct_rdma = -1;         // CUDA attribute 116; -1: this driver does not know it
  int dma_buf = -1;                 // CUDA attribute 124, likewise
  std::uint64_t gpu_free = 0;       // bytes, cuMemGetInfo
  std::uint64_t gpu_total = 0;      // bytes
  std::uint64_t mem_available = 0;  // bytes, /proc/meminfo
  std::uint64_t swap_used = 0;      // bytes
  std::uint64_t max_bytes = 0;      // the largest size that memory allows here
  std::string busy_source = {};     // how `busy` is known: "nvml", "proc"; "": it is not
  std::vector<BusyProcess> busy = {};
  std::map<std::string, std::string> env = {};  // NCCL_* in force
};

// One test in one placement, as this rank saw it. NCCL makes a thread for each call of a
// communicator that does not block: below some 100 µs the times are that thread's, and no latency
// of the fabric.
struct NcclResult {
  Collective collective = Collective::kAllReduce;
  std::uint64_t bytes = 0;  // really moved: the size requested, rounded down to whole elements
  DataType type = DataType::kFloat;
  bool in_place = false;
  int iterations = 0;
  double time_us = 0;  // mean of one iteration, by CUDA events
  double p50_us = 0;
  double p95_us = 0;
  double wall_us = 0;       // mean by the host's clock, which includes the start
  double algbw = 0;         // 1e9 bytes per second
  double busbw = 0;         // likewise, by NCCL's formula
  std::uint64_t wrong = 0;  // elements that differ from what they must be
  // Growth during the timed iterations and one more before them; sizes of 1 MiB and more.
  Counters counters = {};
};

// code: a stable slug:
//   no-libcuda, no-libnccl, old-nccl   a library is missing, or too old
//   cuda                               a CUDA call failed
//   busy, memory                       refused
//   nccl                               an NCCL call failed, or the communicator's beginning
//   async                              a communicator that was ready reports an error
//   deadline                           of the phase, see text
//   hung, crash                        a call into a library did not return; a signal ended it
//   controller-gone, protocol          stdin ended; a line was not understood
// "controller-gone" is for the log alone: no one reads it.
struct NcclFailure {
  std::string code = {};
  std::string phase = {};       // start, init, connect, "all_reduce 1048576 float in place", finish
  std::string call = {};        // ncclCommInitRankConfig
  int result = 0;               // of that call, ncclResult_t or CUresult
  int async = 0;                // ncclCommGetAsyncError's, when it was called
  std::string last_error = {};  // ncclGetLastError
  std::string text = {};        // wanted …, found …
  std::string hint = {};
};

struct NcclMessage {
  NcclEvent event = NcclEvent::kEnd;
  NcclHello hello = {};
  std::string unique_id = {};  // 256 hexadecimal digits, see nccl_id.h
  double seconds = 0;          // init-done, connected, aborted: what it took
  NcclResult result = {};
  std::string log = {};  // a line of NCCL's, without the newline
  NcclFailure failure = {};
  Counters counters = {};  // end: growth during the whole run
};

std::string FormatHello(const NcclHello& hello);
std::string FormatUniqueId(std::string_view hex);
std::string FormatInitDone(double seconds);
std::string FormatNcclConnected(double seconds);
std::string FormatResult(const NcclResult& result);
std::string FormatLog(std::string_view text);
std::string FormatFailed(const NcclFailure& failure);
std::string FormatAborted(double seconds);
std::string FormatNcclEnd(const Counters& counters);
Result<NcclMessage> ParseNcclMessage(std::string_view line);

enum class NcclCommand { kId, kGo, kAbort };

struct NcclOrder {
  NcclCommand command = NcclCommand::kAbort;
  std::string unique_id = {};  // kId
};

std::string FormatIdOrder(std::string_view hex);
std::string FormatGoOrder();
std::string FormatAbortOrder();
Result<NcclOrder> ParseNcclOrder(std::string_view line);

}  // namespace reconciler::spark_verify
