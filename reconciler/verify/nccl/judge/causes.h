#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/verify/finding/cause.h"
#include "reconciler/verify/nccl/judge/judge.h"

namespace reconciler {

// Why a run was slow: the first that fits, from what is certain to what is left. `busbw` in GB/s.
Cause ExplainSpeed(const NcclEvidence& evidence, const std::vector<RankPath>& paths, double busbw);

// A rail's PCIe link with fewer lanes than a Spark's.
std::optional<Cause> ExplainNarrowPcie(const NcclEvidence& evidence);
// Some rank's results are not there.
Cause ExplainMissingResults(const NcclRun& run);
Cause ExplainUnknownLinks(const NcclRun& run);
// Memory allowed only a size at which no link is judged. `size`: "16 MiB".
Cause ExplainSmallSize(const NcclRun& run, const std::string& size);
// nullopt: all nodes have loaded the same.
std::optional<Cause> ExplainVersions(const NcclRun& run);
Cause ExplainWrongData(const std::vector<NodeName>& nodes);
Cause ExplainImpossible(const NcclRun& run);
Cause ExplainFlaky(const NcclRun& run);
// Below the minimum, and all that these links let a size reach. `size`: "1 GiB"; GB/s.
Cause ExplainPromise(const NcclRun& run, const std::string& size, double reachable);

std::vector<NodeName> ListNodes(const NcclRun& run);  // of its ranks, in their order
std::string FormatNcclVersion(const NcclRank& rank);  // "2.28.9"; empty: not reported

}  // namespace reconciler
