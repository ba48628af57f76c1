#pragma once

#include <optional>

#include "reconciler/verify/rdma/judge/judge.h"

namespace reconciler {

// The most that this rail of that transfer can carry between its two ends, in Gb/s of payload:
// what the rails in use at the same time leave it of its cage's cable and of its PCIe link.
// nullopt: an end does not report the speed of its link.
std::optional<double> ComputeRoofline(const Transfer& transfer, const RailWrite& rail);

// What a rail carried beside those that share its cables, in Gb/s of payload. Twins divide a cable
// as they like (108 and 88 of 196): one is above its share, and both together are not.
struct SharedSpeed {
  double gbps = 0;      // of all of them
  double roofline = 0;  // the sum of theirs
  double alone = 0;     // the most that this rail can carry while the others rest
};

// Rails whose roofline is unknown are left out. Precondition: this rail's is known.
SharedSpeed ComputeSharedSpeed(const Transfer& transfer, const RailWrite& rail);

}  // namespace reconciler
