#pragma once

#include <vector>

#include "plugins/qos/section.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::qos {

// What a port needs: one command sets all of it.
std::vector<RunCommand> ListPfcCommands(const std::string& netdev, const std::string& priorities);
std::vector<RunCommand> ListDscpCommands(const std::string& netdev, const std::string& mapping);
RunCommand MakeTosCommand(const RailPort& port, const QosFacts& facts, const std::string& tos);

// The unit that sets it again at boot, since nothing of it outlives one, and that it is enabled.
std::vector<Resource> MakeBootUnit(const Section& section, const PluginInput& input,
                                   const std::vector<RailPort>& ports);

}  // namespace reconciler::plugins::qos
