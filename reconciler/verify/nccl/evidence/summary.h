#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/verify/nccl/evidence/figures.h"
#include "reconciler/verify/nccl/evidence/roofline.h"
#include "reconciler/verify/nccl/evidence/transport.h"
#include "reconciler/verify/pairs/at_fault.h"

namespace reconciler {

struct NcclRankFacts {
  NodeName node = {};
  std::string version = {};  // "2.28.9+cuda13.0"
  std::string library = {};  // the file that was really loaded
  std::string gpu = {};
  bool operator==(const NcclRankFacts&) const = default;
};

// What a run of NCCL over all nodes was and brought, for the report.
struct NcclSummary {
  std::vector<NcclRankFacts> ranks = {};
  std::string root = {};  // where rank 0 waited for the others
  std::optional<NcclRoofline> roofline = std::nullopt;
  std::vector<NcclFigure> figures = {};
  std::vector<RankPath> paths = {};
  std::vector<PairVerdict> pairs = {};  // only after a run that was not good
  double seconds = 0;
  bool operator==(const NcclSummary&) const = default;
};

}  // namespace reconciler
