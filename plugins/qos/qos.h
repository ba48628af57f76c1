#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::qos {

Plugin Get();

}  // namespace reconciler::plugins::qos
