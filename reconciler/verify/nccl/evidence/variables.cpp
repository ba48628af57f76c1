#include "reconciler/verify/nccl/evidence/variables.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {

std::optional<RankVariable> FindVariable(const NcclRank& rank, const NcclLog& log,
                                         std::string_view name) {
  if (rank.hello) {
    const auto set = rank.hello->env.find(std::string(name));
    if (set != rank.hello->env.end()) return RankVariable{.value = MakePrintable(set->second)};
  }
  const auto read = log.variables.find(std::string(name));
  if (read == log.variables.end()) return std::nullopt;
  return RankVariable{.value = read->second.value, .in_file = true};
}

std::string FormatPlace(const RankVariable& set, const NodeName& node) {
  return fmt::format("{} on {}{}", set.value, node, set.in_file ? " (a file nccl.conf)" : "");
}

}  // namespace reconciler
