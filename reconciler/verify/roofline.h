#pragma once

#include <optional>

#include "reconciler/spark_verify/messages.h"

namespace reconciler {

// What an Ethernet link of that speed carries in RDMA writes with that path MTU (bytes), in Gb/s.
double LinkGbps(double link_gbps, int path_mtu);
// What a PCIe link carries with packets of 256 bytes, in Gb/s.
double PcieGbps(int width, double gts);

// The most that one rail can carry between these two ends. nullopt: nothing tells the link's speed.
// `sharing`: rails at work at the same time behind the same cable.
std::optional<double> Roofline(const spark_verify::Limits& from, const spark_verify::Limits& to,
                               int path_mtu, std::size_t sharing);

}  // namespace reconciler
