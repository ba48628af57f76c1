#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::units {

Plugin Get();

}  // namespace reconciler::plugins::units
