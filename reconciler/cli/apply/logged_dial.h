#pragma once

#include <functional>

#include "reconciler/progress/apply_progress.h"
#include "reconciler/transport/transport.h"

namespace reconciler::cli {

// Reaches nodes as `dial` does, and logs each connection and each shell with the time that it took.
// `log` may be called from several threads at once.
Dial LogConnections(Dial dial, std::function<void(const LogLine&)> log);

}  // namespace reconciler::cli
