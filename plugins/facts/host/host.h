#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::host {

Plugin Get();

}  // namespace reconciler::plugins::host
