#pragma once

#include <string>
#include <vector>

#include "reconciler/spark_verify/nccl_options.h"

namespace reconciler::spark_verify {

struct NcclTest {
  Collective collective = Collective::kAllReduce;
  NcclSize size = {};
  DataType type = DataType::kFloat;
  bool in_place = false;
};

// In the order in which every rank runs them.
std::vector<NcclTest> TestsOf(const NcclOptions& options);
// "all_reduce 1048576 float in place"
std::string Describe(const NcclTest& test);

// Mean, median and 95th percentile.
struct Times {
  double mean = 0;
  double p50 = 0;
  double p95 = 0;
};
Times Summarise(std::vector<double> times);

}  // namespace reconciler::spark_verify
