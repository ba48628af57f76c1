#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::sysctl {

Plugin Get();

}  // namespace reconciler::plugins::sysctl
