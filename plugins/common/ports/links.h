#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/fabric.h"

namespace reconciler::plugins {

// The kind of the resources that are the live state of a netdev.
inline constexpr std::string_view kLinkKind = "link";

// The ids of the ports' links, for Resource::needs. Give a node's own ports only: the planner holds
// both ends of a cable together, and on a switch one node that is held must not hold the others.
std::vector<std::string> ListLinkIds(const std::vector<RailPort>& ports);

// Of all of the node's ports; empty when the fabric has none there.
std::vector<std::string> ListLinkIds(const Fabric& fabric, const NodeName& node);

}  // namespace reconciler::plugins
