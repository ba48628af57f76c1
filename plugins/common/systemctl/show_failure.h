#pragma once

#include "reconciler/model/observed.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins {

// Why a `systemctl show` with this reply says nothing. Precondition: its exit status is not 0.
Unknown ExplainShowFailure(const CommandReply& reply, int limit_s);

}  // namespace reconciler::plugins
