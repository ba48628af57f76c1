#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/base/observed.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins {

// What systemd says of units, for each plugin that needs any: one `systemctl show` has all of them,
// since the program takes longer to start than to answer.
inline constexpr const char* kUnits = "common.units";

// A unit of every system that no one gives limits of its own, so that it has those that the manager
// sets: the mount of the root file system. The manager itself is shown by a call of its own only.
inline constexpr const char* kDefaultsUnit = "-.mount";

RunProbe MakeUnitsProbe(std::vector<std::string> units);

using UnitProperties = std::map<std::string, std::string>;
struct ShownUnits {
  UnitProperties defaults = {};                      // of kDefaultsUnit, where it was requested
  std::map<std::string, UnitProperties> units = {};  // the others, by each of their names
  Observed<int> count = Absent{};                    // of the others; Unknown: systemctl failed
};
// Where its limit ended systemctl nothing is known: the last unit may be cut.
ShownUnits ParseUnits(const CommandReply& reply);

}  // namespace reconciler::plugins
