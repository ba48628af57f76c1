#include "reconciler/spark_verify/nccl/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reconciler/spark_verify/nccl/test_data.h"

namespace reconciler::spark_verify {
namespace {

// Of an iteration this long, what is lost before it is less than 0.3 %, and one more costs time. An
// estimate of less may be of a busy host, which took that for an iteration of microseconds.
constexpr double kLongUs = 100'000;
// The GPU stops between two iterations to note the time, for some µs: of this, less than 0.3 %.
constexpr double kApartUs = 2'000;
// Iterations as short as this wait for the host's calls, and an event costs nothing.
constexpr double kHostUs = 200;

}  // namespace

std::vector<NcclTest> ListTests(const NcclOptions& options) {
  std::vector<NcclTest> tests;
  for (const Collective collective : options.collectives) {
    for (const DataType type : options.types) {
      for (const NcclSize& size : options.sizes) {
        for (const bool in_place : {false, true}) {
          const bool wanted = in_place ? options.in_place : options.out_of_place;
          if (!wanted || (in_place && !HasInPlace(collective))) continue;
          tests.push_back(
              {.collective = collective, .size = size, .type = type, .in_place = in_place});
        }
      }
    }
  }
  return tests;
}

std::string Describe(const NcclTest& test) {
  return fmt::format("{} {} {} {}", ToString(test.collective), test.size.bytes, ToString(test.type),
                     test.in_place ? "in place" : "out of place");
}

Batch PlanBatch(int iterations, double each_us) {
  Batch batch{.iterations = iterations, .lead = each_us < kLongUs};
  if (each_us > kHostUs && each_us < kApartUs) {
    batch.apart = static_cast<int>(std::ceil(kApartUs / each_us));
  }
  return batch;
}

Times Summarize(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  const std::size_t last = times.size() - 1;
  return {.mean = sum / static_cast<double>(times.size()),
          .p50 = times[last / 2],
          .p95 = times[(last * 95 + 99) / 100]};
}

}  // namespace reconciler::spark_verify
