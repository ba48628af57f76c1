#pragma once

#include <string>

#include "reconciler/model/action.h"

namespace reconciler::plugins {

// Enables or disables a unit. It works on the files of /etc/systemd, so that it outlives a restart
// and a revert at boot runs it too, and does not make systemd reload its units, which would run
// netplan's generator. For a service that has a script in /etc/init.d systemctl runs update-rc.d,
// which reloads all the same.
RunCommand SetEnabled(const std::string& unit, bool enabled);

}  // namespace reconciler::plugins
