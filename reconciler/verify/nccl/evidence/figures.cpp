#include "reconciler/verify/nccl/evidence/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace reconciler {

std::string FormatSize(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string NcclFigure::Name() const {
  return fmt::format("{} {} {}{}", ToString(collective), FormatSize(bytes), ToString(type),
                     in_place ? " in place" : "");
}

bool HaveSameTests(const NcclRun& run) {
  if (run.ranks.empty() || run.ranks.front().results.empty()) return false;
  const auto same = [](const spark_verify::NcclResult& a, const spark_verify::NcclResult& b) {
    return a.collective == b.collective && a.bytes == b.bytes && a.type == b.type &&
           a.in_place == b.in_place;
  };
  const auto& first = run.ranks.front().results;
  return std::all_of(run.ranks.begin(), run.ranks.end(), [&](const NcclRank& rank) {
    return std::equal(first.begin(), first.end(), rank.results.begin(), rank.results.end(), same);
  });
}

std::vector<NcclFigure> ListFigures(const NcclRun& run) {
  if (run.ranks.empty()) return {};
  std::size_t common = run.ranks.front().results.size();
  for (const NcclRank& rank : run.ranks) common = std::min(common, rank.results.size());
  const auto ranks = static_cast<double>(run.ranks.size());
  std::vector<NcclFigure> figures;
  for (std::size_t i = 0; i < common; ++i) {
    const spark_verify::NcclResult& first = run.ranks.front().results[i];
    NcclFigure figure{.collective = first.collective,
                      .bytes = first.bytes,
                      .type = first.type,
                      .in_place = first.in_place,
                      .iterations = first.iterations};
    for (const NcclRank& rank : run.ranks) {
      const spark_verify::NcclResult& result = rank.results[i];
      figure.time_us += result.time_us / ranks;
      figure.p50_us += result.p50_us / ranks;
      figure.p95_us = std::max(figure.p95_us, result.p95_us);
      figure.wrong += result.wrong;
      if (result.wrong > 0) figure.wrong_on.push_back(rank.node);
    }
    figure.algbw = static_cast<double>(figure.bytes) / figure.time_us * 1e-3;
    figure.busbw = figure.algbw * spark_verify::ComputeBusFactor(
                                      figure.collective, static_cast<int>(run.ranks.size()));
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace reconciler
