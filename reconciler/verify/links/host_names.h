#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/verify/links/probes.h"

namespace reconciler {

// Warnings about names of the fabric that lead elsewhere on the node, or nowhere. `found`: a line
// for each such name, with the name and the IPv4 addresses that the node's resolver has for it, or
// "?" where it did not answer in time. A name that has its one address needs no line. What is well
// has no check.
std::vector<Check> JudgeNames(const NodeProbes& probes, std::string_view found);

}  // namespace reconciler
