#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/verify/nccl/judge/judge.h"
#include "reconciler/verify/report/cause.h"

namespace reconciler {

// Whether the run could not be made, which says nothing about the fabric.
bool IsHarness(const NcclTrouble& trouble);

// Why a run did not come to its end.
Cause OfTrouble(const NcclTrouble& trouble, const NcclRun& run);

// Why a run was slow: the first that fits, from what is certain to what is left. `busbw` in GB/s.
Cause OfSpeed(const NcclEvidence& evidence, const std::vector<RankPath>& paths, double busbw);

// Precondition of both: some path has it.
Cause OfSockets(const std::vector<RankPath>& paths);
Cause OfIdleRail(const std::vector<RankPath>& paths, int rail);
// A rail's PCIe link with fewer lanes than a Spark's.
std::optional<Cause> OfNarrowPcie(const NcclEvidence& evidence);
// Some rank's results are not there.
Cause OfMissingResults(const NcclRun& run);
Cause OfUnknownLinks(const NcclRun& run);
// nullopt: all nodes have loaded the same.
std::optional<Cause> OfVersions(const NcclRun& run);
Cause OfWrongData(const std::vector<NodeName>& nodes);
Cause OfImpossible(const NcclRun& run);
Cause OfFlaky(const NcclRun& run);
// Less than promised, and all that these links let a size reach. `size`: "1 GiB"; GB/s.
Cause OfPromise(const NcclRun& run, const std::string& size, double reachable);

std::string NcclVersionOf(const NcclRank& rank);  // "2.28.9"; empty: not told

}  // namespace reconciler
