#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::firewall {

Plugin Get();

}  // namespace reconciler::plugins::firewall
