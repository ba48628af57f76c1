#pragma once

#include <optional>

#include "reconciler/verify/nccl/evidence/values.h"

namespace reconciler {

// nullopt when the run finished. A rank that only felt the loss of another one knows less than
// that one, and a deadline less than whatever made it pass.
std::optional<NcclRunError> FindRunError(const NcclRun& run);

}  // namespace reconciler
