#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/spark_verify/protocol/collective.h"

namespace reconciler::spark_verify {

// A size as nccl-tests counts it: all_reduce and sendrecv: what each rank puts in; all_gather: what
// each gets; reduce_scatter and alltoall: what each puts in for all ranks together.
struct NcclSize {
  std::size_t bytes = 0;
  int limit_ms = 0;  // for this size, each collective and placement; 0: NcclOptions::size_ms
  bool operator==(const NcclSize&) const = default;
};

// What one rank gets when it is started, by these names. The order of collectives, sizes, types
// and placements must be the same on all ranks: they run one test after the other without a
// command.
struct NcclOptions {
  // Names the run. Processes of the same run may share a GPU without making it busy.
  std::string run = {};
  int rank = 0;
  int ranks = 0;
  int gpu = 0;               // ordinal among the GPUs that CUDA shows
  std::string library = {};  // path of libnccl; "": the loader finds libnccl.so.2
  std::vector<Collective> collectives = {Collective::kAllReduce};
  std::vector<NcclSize> sizes = {};
  std::vector<DataType> types = {DataType::kFloat};
  bool out_of_place = true;
  bool in_place = true;  // alltoall and sendrecv have no such form and leave it out
  int warm_up = 5;
  int iterations = 20;
  // Fewer iterations (at least 2) where that many would take longer; all ranks agree. 0: never.
  int budget_ms = 0;
  std::size_t memory_limit = std::size_t{1} << 30;  // of the largest size
  std::size_t reserve = std::size_t{8} << 30;       // of unified memory that stays free
  bool allow_busy = false;                          // another program's process on the GPU
  int init_ms = 20'000;
  int connect_ms = 15'000;
  int size_ms = 30'000;
  int limit_ms = 300'000;  // for everything
  // Over what the process inherited and over RunEnvironment().
  std::map<std::string, std::string> env = {};
};

// From one JSON object.
Result<NcclOptions> ParseNcclOptions(std::string_view text);
// What ParseNcclOptions reads back as the same.
std::string FormatNcclOptions(NcclOptions options);
// Whether a word of a command line is such an object, of that run.
bool IsOfRun(std::string_view word, const std::string& run);

// What every rank sets for the run only: bounded retries, and the log that proves the transport.
const std::map<std::string, std::string>& RunEnvironment();

// Lines for --help.
std::string FormatNcclUsage();

}  // namespace reconciler::spark_verify
