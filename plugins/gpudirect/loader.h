#pragma once

#include <string>
#include <vector>

#include "plugins/common/gpu/gpu_section.h"
#include "reconciler/base/diagnostic.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::gpudirect {

// Whether systemd-modules-load.service failed, and then which lines of modules-load.d name a module
// that the kernel has and that is not loaded.
RunProbe MakeLoaderProbe();
void StoreLoader(const ProbeReply& reply, NodeFacts& facts);

// One for each such line that another program left: we did not write it and do not remove it. What
// is ours is reported by the module's own resource.
std::vector<Diagnostic> DiagnoseLoader(const GpuSection& section, const NodeFacts& facts);

}  // namespace reconciler::plugins::gpudirect
