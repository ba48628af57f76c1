#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::packages {

Plugin Get();

}  // namespace reconciler::plugins::packages
