#pragma once

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

RunProbe MakeMastersProbe();

// Bonds, bridges and what else has members.
void StoreMasters(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::netplan
