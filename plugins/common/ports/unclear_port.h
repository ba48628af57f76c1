#pragma once

#include <string>

#include "reconciler/model/facts.h"
#include "reconciler/model/hardware.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins {

// Why it is not clear which interface of the node is the port that its profile calls `netdev`;
// empty: the node has it, or nothing that may be it. nullptr: the node has no profile.
Obstacle FindUnclearPort(const Hardware* profile, const NodeFacts& facts,
                         const std::string& netdev);

}  // namespace reconciler::plugins
