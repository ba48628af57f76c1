#pragma once

#include "reconciler/plugin.h"

namespace reconciler::plugins::rdma {

Plugin Get();

}  // namespace reconciler::plugins::rdma
