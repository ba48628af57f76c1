#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::gpudirect {

Plugin Get();

}  // namespace reconciler::plugins::gpudirect
