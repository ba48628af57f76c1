#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/verify/nccl/evidence/roofline.h"
#include "reconciler/verify/nccl/evidence/values.h"

namespace reconciler {

enum class NcclPath { kUnknown, kRdma, kSocket, kOther };

std::string_view ToString(NcclPath path);  // "unknown", "rdma", "socket", "other"

// What one HCA carried of a run.
struct RailUse {
  std::string hca = {};
  int rail = 0;
  std::string cage = {};
  double sent = 0;      // bytes by the port's counters, or channels by NCCL's lines
  double received = 0;  // bytes; 0 by NCCL's lines
  bool operator==(const RailUse&) const = default;
};

// How the data of one rank went.
struct RankPath {
  NodeName node = {};
  NcclPath path = NcclPath::kUnknown;
  bool counted = false;  // by counters, and not only by what NCCL prints
  double wanted = 0;     // bytes that the rank had to send, where counted
  std::vector<RailUse> rails = {};
  std::vector<int> idle = {};  // rails that carried nothing beside their twin
  std::string said = {};       // what NCCL's lines say: "NET/IB/0, NET/IB/1"
  bool operator==(const RankPath&) const = default;
};

// By the counters of the HCAs that `facts` name, which cannot lie; by NCCL's lines where a node
// has no HCA that was read, one without counters, or is in `uncounted`: its counters do not show
// which HCA carried what. GPUDirect plays no part: a healthy GB10 has none.
std::vector<RankPath> ListPaths(const NcclRun& run, const Fabric& fabric,
                                const RailFactsByNode& facts,
                                const std::set<NodeName>& uncounted = {});

}  // namespace reconciler
