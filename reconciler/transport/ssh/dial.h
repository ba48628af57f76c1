#pragma once

#include "reconciler/transport/transport.h"

namespace reconciler {

// By ssh or on this machine, as the node's access says.
Result<std::unique_ptr<Transport>> DialNode(const NodeSpec& node);

}  // namespace reconciler
