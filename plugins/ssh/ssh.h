#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::ssh {

Plugin Get();

}  // namespace reconciler::plugins::ssh
