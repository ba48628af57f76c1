#pragma once

#include <optional>
#include <string>

#include "reconciler/model/fabric.h"
#include "reconciler/verify/finding/cause.h"
#include "reconciler/verify/nccl/evidence/values.h"

namespace reconciler {

// Why a connection between two HCAs was not made, or broke, by the GIDs in what NCCL said of it
// (`said`: lines). nullopt: it names none, or both are right and the message is about neither.
std::optional<Cause> ExplainConnection(const std::string& said, const NcclRunError& run_error,
                                       const NcclRun& run, const Fabric& fabric);

}  // namespace reconciler
