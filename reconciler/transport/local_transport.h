#pragma once

#include "reconciler/transport/transport.h"

namespace reconciler {

// The machine that this program runs on: no network, the same framing.
Result<std::unique_ptr<Transport>> DialLocal(const NodeSpec& node);

}  // namespace reconciler
