#pragma once

#include <string>
#include <vector>

#include "reconciler/model/action.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// Kernel settings of a port that systemd-networkd changes when it manages the port, and leaves
// behind when it does so no more: accept_ra, addr_gen_mode, promote_secondaries.
std::vector<Read> ListManagerReads(const std::string& netdev);
void StoreManagerKeys(const ProbeReply& reply, NodeFacts& facts);

// Sets them as they are in the facts. A port may be gone by then, so that a failure is none.
std::vector<RunCommand> RestoreManagerKeys(const NodeFacts& facts, const std::string& netdev);

}  // namespace reconciler::plugins::netplan
