#pragma once

#include <string>

#include "reconciler/verify/report/report.h"

namespace reconciler {

// Where a report comes from, for its reader.
struct ReportOrigin {
  std::string when = {};     // "2026-11-24 03:12 UTC"
  double seconds = 0;        // that verify took
  std::string version = {};  // of this program
  std::string drawing = {};  // the fabric as an SVG element; empty: none
};

// The report as one HTML page that needs no network: the verdict first, then findings, the fabric,
// bandwidths by rail, NCCL against the roofline, and what was run. Dark or light as the reader's
// system is; for a phone, a keyboard and a printer too.
std::string RenderHtml(const Report& report, const ReportOrigin& origin);

}  // namespace reconciler
