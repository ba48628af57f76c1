#pragma once

#include <string>
#include <vector>

#include "plugins/units/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins::units {

// One `systemctl show` for all units that have a state to hold, with the services of sockets; none
// of them: no read.
std::vector<Read> ListStateReads(const std::vector<UnitSpec>& units);
// Fills UnitFacts.
void ParseStates(const ProbeReply& reply, NodeFacts& facts);
Observed<UnitState> FindState(const NodeFacts& facts, const std::string& name);

// The state in the manifest's terms: "enabled active", of which it may say only one.
std::string DescribeDesired(const UnitSpec& unit);
Observed<std::string> DescribeObserved(const UnitSpec& unit, const Observed<UnitState>& state);
// Why systemctl could not bring the unit there.
Obstacle FindObstacle(const UnitSpec& unit, const UnitState& state);

}  // namespace reconciler::plugins::units
