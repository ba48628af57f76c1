#pragma once

#include <string>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// The report as one HTML page that needs no network: the verdict first, then findings, the fabric,
// bandwidths and latencies by rail, NCCL against the roofline, facts, and what was run. Dark or
// light as the reader's system is; for a phone, a keyboard and a printer too.
std::string RenderHtml(const Report& report);

}  // namespace reconciler
