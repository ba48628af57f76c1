#pragma once

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// Bonds, bridges and what else has members, of what MakeIpProbe runs.
void StoreMasters(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::netplan
