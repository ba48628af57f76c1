#include "reconciler/verify/nccl/evidence/variables.h"

#include "reconciler/base/text.h"
#include "reconciler/verify/nccl/evidence/log.h"

namespace reconciler {

std::optional<RankVariable> FindVariable(const NcclRank& rank, std::string_view name) {
  if (rank.hello) {
    const auto set = rank.hello->env.find(std::string(name));
    if (set != rank.hello->env.end()) return RankVariable{.value = MakePrintable(set->second)};
  }
  const NcclLog log = ParseNcclLog(rank.log);
  const auto read = log.variables.find(std::string(name));
  if (read == log.variables.end()) return std::nullopt;
  return RankVariable{.value = read->second.value, .in_file = true};
}

}  // namespace reconciler
