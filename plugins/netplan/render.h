#pragma once

#include <string>
#include <vector>

#include "reconciler/model/fabric.h"

namespace reconciler::plugins::netplan {

// The body of our netplan file: `ports` configured, `down` kept down (networkd only: netplan
// refuses `activation-mode: off` for NetworkManager). No `renderer`: it would change other files'
// interfaces.
std::string FormatNetplan(const std::vector<RailPort>& ports, const std::vector<std::string>& down);

// NetworkManager sets every port up that it manages, so it must let go of ports that stay down.
std::string FormatUnmanaged(const std::vector<std::string>& down);

}  // namespace reconciler::plugins::netplan
