#include "reconciler/spark_verify/nccl_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "reconciler/spark_verify/test_data.h"

namespace reconciler::spark_verify {

std::vector<NcclTest> TestsOf(const NcclOptions& options) {
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

Times Summarise(std::vector<double> times) {
  if (times.empty()) return {};
  std::sort(times.begin(), times.end());
  const double sum = std::accumulate(times.begin(), times.end(), 0.0);
  const std::size_t last = times.size() - 1;
  return {.mean = sum / static_cast<double>(times.size()),
          .p50 = times[last / 2],
          .p95 = times[(last * 95 + 99) / 100]};
}

}  // namespace reconciler::spark_verify
