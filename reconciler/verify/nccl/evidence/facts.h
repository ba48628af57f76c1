#pragma once

#include <map>
#include <string>

#include "reconciler/base/result.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/nccl/evidence/roofline.h"
#include "reconciler/verify/nccl/evidence/root.h"

namespace reconciler {

// What `spark-verify facts` prints, as far as it bounds a rail: HCAs by name.
struct HcaRail {
  RailFacts rail = {};
  std::string netdev = {};
};
Result<std::map<std::string, HcaRail>> ParseHcas(std::string_view text);

// The fabric with the HCAs' names as the node's kernel has them: of each netdev the HCA
// that is really behind it.
Fabric ApplyHcas(Fabric fabric, const NodeName& node, const std::map<std::string, HcaRail>& hcas);

// The network of the interface that NCCL_SOCKET_IFNAME names, or else of the one that our session
// uses. nullopt: it holds no address that was read.
std::optional<BootstrapNetwork> FindBootstrapNetwork(const NodeSpec& node, const NodeFacts& facts,
                                                     const std::map<std::string, std::string>& env);

}  // namespace reconciler
