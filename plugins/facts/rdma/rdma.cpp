#include "plugins/facts/rdma/rdma.h"

#include "plugins/common/gpu/level.h"
#include "plugins/facts/rdma/devices.h"
#include "plugins/facts/rdma/system.h"

namespace reconciler::plugins::rdma {
namespace {

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec&) {
  std::vector<Read> reads = ListDeviceReads();
  for (Read& read : ListSystemReads(MeasuresRdma(cluster))) reads.push_back(std::move(read));
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  StoreDevices(reply, facts);
  StoreSystem(reply, facts);
}

}  // namespace

Plugin Get() { return {.name = "rdma", .after = {}, .probe = Probe, .parse = Parse}; }

}  // namespace reconciler::plugins::rdma
