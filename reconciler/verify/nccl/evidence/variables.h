#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconciler/verify/nccl/evidence/log.h"
#include "reconciler/verify/nccl/evidence/values.h"

namespace reconciler {

struct RankVariable {
  std::string value = {};
  bool in_file = false;  // a file nccl.conf sets it, and no environment
  bool operator==(const RankVariable&) const = default;
};

// What NCCL of that rank has for the variable; nullopt: nothing that is known. Its environment wins
// over /etc/nccl.conf and ~/.nccl.conf, of which `log`, that of the rank, shows what it has read.
std::optional<RankVariable> FindVariable(const NcclRank& rank, const NcclLog& log,
                                         std::string_view name);

// "LL on spark-2", "LL on spark-2 (a file nccl.conf)"
std::string FormatPlace(const RankVariable& set, const NodeName& node);

}  // namespace reconciler
