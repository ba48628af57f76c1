#pragma once

#include <optional>

#include "reconciler/verify/rdma/judge/judge.h"

namespace reconciler {

// The most that this rail of that transfer can carry between its two ends, in Gb/s of payload:
// what the rails in use at the same time leave it of its cage's cable and of its PCIe link.
// nullopt: an end does not report the speed of its link.
std::optional<double> ComputeRoofline(const Transfer& transfer, const RailWrite& rail);

}  // namespace reconciler
