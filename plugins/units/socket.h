#pragma once

#include <string>

#include "plugins/units/section.h"
#include "reconciler/model/action.h"

namespace reconciler::plugins::units {

// "demo.service" for "demo.socket", or what the entry says; a file of others may name another one.
// Empty: the unit is no socket, or one that starts a service for each connection (Accept=yes).
std::string NameSocketService(const UnitSpec& unit);

// systemd starts no socket whose service runs. Of `systemctl start|restart|try-restart -- SOCKET`
// the same by start_socket.sh; any other command as it is.
RunCommand StartAroundService(RunCommand command);

}  // namespace reconciler::plugins::units
