#pragma once

#include <string>

#include "plugins/netplan/intent.h"

namespace reconciler::plugins::netplan {

// Sets the live values of a port again as they are in the facts.
std::vector<RunCommand> MakeLinkRevertCommands(const NodeFacts& facts, const std::string& netdev,
                                               const LinkFact& link);

// The live state that a rail port must have: up, MTU, and its IPv4 address as the only one.
Resource MakeRailLink(const PluginInput& input, const Intent& intent, const RailPort& port);

// The live state of a netdev of an unused cage that the manifest wants down.
Resource MakeDownLink(const PluginInput& input, const Intent& intent, const std::string& netdev);

}  // namespace reconciler::plugins::netplan
