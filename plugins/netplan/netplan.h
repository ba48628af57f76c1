#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

Plugin Get();

}  // namespace reconciler::plugins::netplan
