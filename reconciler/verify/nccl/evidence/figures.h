#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reconciler/verify/nccl/evidence/values.h"

namespace reconciler {

// One test in one placement, of all ranks together.
struct NcclFigure {
  spark_verify::Collective collective = spark_verify::Collective::kAllReduce;
  std::uint64_t bytes = 0;
  spark_verify::DataType type = spark_verify::DataType::kFloat;
  bool in_place = false;
  int iterations = 0;
  double time_us = 0;  // mean over iterations and ranks, as nccl-tests has it
  double p50_us = 0;   // mean over ranks
  double p95_us = 0;   // of the rank that saw the worst
  double algbw = 0;    // GB/s (1e9), by the mean time
  double busbw = 0;    // likewise
  std::uint64_t wrong = 0;
  std::vector<NodeName> wrong_on = {};

  std::string Name() const;  // "all_reduce 1 GiB float in place"
  bool operator==(const NcclFigure&) const = default;
};

// In the order of the tests; those that every rank went through.
std::vector<NcclFigure> ListFigures(const NcclRun& run);

// Whether all ranks report the same tests, and of one at least: otherwise figures would be
// missing, or mixed from different tests.
bool HaveSameTests(const NcclRun& run);

std::string FormatSize(std::uint64_t bytes);  // "1 GiB", "1536 KiB", "8 B"

}  // namespace reconciler
