#pragma once

#include <string>
#include <vector>

#include "plugins/units/section.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::units {

// What systemd says about one unit, in its own words.
struct UnitState {
  std::string load = {};       // loaded, not-found, masked, bad-setting, error
  std::string unit_file = {};  // enabled, disabled, static, masked, …; empty when there is no file
  std::string active = {};     // active, reloading, inactive, failed, activating, deactivating
  std::string result = {};     // success, exit-code, timeout, …
  bool stale = false;          // files changed since systemd read them
};

// One `systemctl show` for all units that have a state to hold; none of them: no read.
std::vector<Read> ListStateReads(const std::vector<UnitSpec>& units);
// Values "units.NAME"; "units.show" is there when the command itself failed.
void ParseStates(const ProbeReply& reply, NodeFacts& facts);
Observed<UnitState> FindState(const NodeFacts& facts, const std::string& name);

// The state in the words of what the manifest says: "enabled active", of which it may say only one.
std::string DescribeDesired(const UnitSpec& unit);
Observed<std::string> DescribeObserved(const UnitSpec& unit, const Observed<UnitState>& state);
// Why systemctl could not bring the unit there; empty when it could.
std::string ExplainBlocked(const UnitSpec& unit, const UnitState& state);

}  // namespace reconciler::plugins::units
