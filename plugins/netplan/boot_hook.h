#pragma once

#include <vector>

#include "plugins/netplan/intent.h"
#include "reconciler/base/diagnostic.h"

namespace reconciler::plugins::netplan {

// What an administrator has NetworkManager's dispatcher, networkd-dispatcher, ifupdown or udev do
// to ports of ours: it comes back at the next boot or re-plug.
std::vector<Diagnostic> DiagnoseBootHooks(const PluginInput& input, const Intent& intent);

}  // namespace reconciler::plugins::netplan
