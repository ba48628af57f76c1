#include "reconciler/fabric/roofline.h"

#include <algorithm>
#include <array>

namespace reconciler {
namespace {

// Around each payload on the wire, in bytes: Ethernet 38 with preamble, gap and checksum, IP 20,
// UDP 8, BTH 12, ICRC 4.
constexpr double kWireOverhead = 82;

// What the driver takes off the packet before it chooses the RDMA MTU, in bytes: room for every
// header that a RoCE packet can have.
constexpr int kLargestHeaders = 96;

// Transactions cost headers too. 128/130 is the line code; 0.887 is what Gen5 x4 was measured to
// leave of the rest with packets of 256 bytes (111.8 of 126.0 Gb/s).
constexpr double kPcieEfficiency = 0.887 * 128 / 130;

// GT/s per lane by generation.
constexpr std::array<double, 7> kGigaTransfers = {0, 2.5, 5, 8, 16, 32, 64};

}  // namespace

int ComputeRdmaMtu(int mtu) {
  for (const int size : {4096, 2048, 1024, 512}) {
    if (mtu - kLargestHeaders >= size) return size;
  }
  return 256;
}

double ComputeRdmaWirePayload(double gbps, int rdma_mtu) {
  return gbps * rdma_mtu / (rdma_mtu + kWireOverhead);
}

double ComputeWirePayload(int gbps, int mtu) {
  return ComputeRdmaWirePayload(gbps, ComputeRdmaMtu(mtu));
}

double ComputeGigaTransfers(int generation) {
  return kGigaTransfers[static_cast<std::size_t>(std::clamp(generation, 0, 6))];
}

double ComputePciePayload(double gts, int lanes) { return gts * lanes * kPcieEfficiency; }

double ComputePciePayload(const Hardware& hardware) {
  return ComputePciePayload(ComputeGigaTransfers(hardware.pcie_generation), hardware.pcie_lanes);
}

double ComputeBusBandwidth(double payload_gbps) { return payload_gbps / 8; }

}  // namespace reconciler
