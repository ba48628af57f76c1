#pragma once

#include <string>
#include <vector>

#include "plugins/netplan/adopt/foreign.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::netplan {

// The body of our netplan file: `ports` configured, `down` kept down (networkd only: netplan
// refuses `activation-mode: off` for NetworkManager). No `renderer` for the whole file: it would
// change other files' interfaces.
//
// Under NetworkManager IPv6 is on, with an address of its own: over it nodes show each other on the
// fabric that they are ready to commit. With netplan's own `method=ignore` NetworkManager 1.52
// leaves it off where it was off under another profile, and again whenever the cable was pulled
// (seen in the lab). netplan 1.1 refuses all files where `networkmanager` stands at a port that is
// not NetworkManager's, so that the port says who has it.
// A link-local port has IPv6 too: by that its neighbour is found, whatever address that chose.
std::string FormatNetplan(const std::vector<RailPort>& ports, const std::vector<std::string>& down,
                          Renderer renderer);

// NetworkManager sets every port up that it manages, so it must let go of ports that stay down.
std::string FormatUnmanaged(const std::vector<std::string>& down);

}  // namespace reconciler::plugins::netplan
