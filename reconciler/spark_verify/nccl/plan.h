#pragma once

#include <string>
#include <vector>

#include "reconciler/spark_verify/protocol/nccl_options.h"

namespace reconciler::spark_verify {

struct NcclTest {
  Collective collective = Collective::kAllReduce;
  NcclSize size = {};
  DataType type = DataType::kFloat;
  bool in_place = false;
};

// In the order in which every rank runs them.
std::vector<NcclTest> ListTests(const NcclOptions& options);
// "all_reduce 1048576 float in place"
std::string Describe(const NcclTest& test);

// How the measured iterations of one test follow each other in the stream, without a wait.
struct Batch {
  int iterations = 0;
  // One more goes before them and is not measured. While the GPU has nothing to do, the clock would
  // also count how much later the other ranks left the barrier, and the first call's way to the
  // GPU: up to 0.3 ms, measured on two GPUs that NVLink joins.
  bool lead = false;
  int apart = 1;  // iterations between two events
};

// each_us: what one iteration takes, as all ranks have agreed. The same on all of them.
Batch PlanBatch(int iterations, double each_us);

// Mean, median and 95th percentile.
struct Times {
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
};
Times Summarize(std::vector<double> times);

}  // namespace reconciler::spark_verify
