#pragma once

#include <string>

#include "reconciler/model/plan.h"

namespace reconciler {

// A plan as JUnit XML, which CI systems show: a test case per node, a failure where it differs from
// the manifest, an error where it was not read. One more case, "cluster", where there is something
// to say that is about no node.
std::string RenderDriftJunit(const Plan& plan);

}  // namespace reconciler
