#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::memlock {

Plugin Get();

}  // namespace reconciler::plugins::memlock
