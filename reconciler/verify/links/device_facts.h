#pragma once

#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/hardware.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// What the RDMA devices behind the fabric's ports say of themselves: that they are there under the
// name that NCCL is given, active, with one GID for the rail's address, and on a PCIe link as wide
// as the hardware's; and a kernel that can give them memory. `wanted`: data will be written, so
// that a node without any device fails; otherwise nothing is required of it.
std::vector<Check> CheckDevices(const Hardware* hardware, const std::vector<RailPort>& ports,
                                const NodeFacts& facts, bool wanted);

// The node's RDMA device behind that interface; nullptr: none.
const std::pair<const std::string, HcaFact>* FindHca(const NodeFacts& facts,
                                                     const std::string& netdev);

}  // namespace reconciler
