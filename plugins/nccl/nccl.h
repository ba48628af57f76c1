#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

Plugin Get();

}  // namespace reconciler::plugins::nccl
