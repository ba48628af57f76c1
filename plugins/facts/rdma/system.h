#pragma once

#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::rdma {

// `deep`: what costs a program of its own, too (the firewall).
std::vector<Read> ListSystemReads(bool deep);

// "rdma.cma": "total 0 kB, free 940604 kB". "rdma.modules": those that RDMA and NCCL need, sorted,
// with a blank between them. "rdma.ofed": version of an mlx5 driver that is not the kernel's own.
// "gpudirect.driver": "open 580.142". "rdma.ufw": "yes" or "no". "rdma.firewall": chains that
// packets to the node pass, "inet filter input drop" a line. Absent: there is none.
void StoreSystem(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::rdma
