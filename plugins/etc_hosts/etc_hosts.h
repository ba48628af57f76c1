#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::hosts {

Plugin Get();

}  // namespace reconciler::plugins::hosts
