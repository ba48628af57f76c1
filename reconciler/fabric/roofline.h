#pragma once

#include "reconciler/model/hardware.h"

namespace reconciler {

// What the wires and the PCIe links can carry at best, in Gb/s of RDMA payload, one direction.
// Measured values above these are measured wrongly.

// The largest RDMA MTU that fits into packets of `mtu` bytes: 4096 in 9000, 1024 in 1500.
int ComputeRdmaMtu(int mtu);

// A wire of `gbps` line rate: 196.1 of 200 at mtu 9000, 185.2 at 1500.
double ComputeWirePayload(int gbps, int mtu);
// The same by the RDMA MTU itself.
double ComputeRdmaWirePayload(double gbps, int rdma_mtu);

// One PCIe device of that hardware: 111.8 for Gen5 x4.
double ComputePciePayload(const Hardware& hardware);
// A PCIe link as it was found; `gts` per lane.
double ComputePciePayload(double gts, int lanes);
// GT/s per lane of a generation, 1 to 6.
double ComputeGigaTransfers(int generation);

// Gb/s of payload as bus bandwidth in GB/s, the way that NCCL's tests print it.
double ComputeBusBandwidth(double payload_gbps);

}  // namespace reconciler
