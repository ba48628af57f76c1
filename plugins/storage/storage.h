#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::storage {

Plugin Get();

}  // namespace reconciler::plugins::storage
