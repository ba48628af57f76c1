#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "reconciler/verify/rdma/judge/judge.h"

namespace reconciler {

// Counters of one direction.
struct Direction {
  std::string_view data;     // mlx5, in units of 4 bytes
  std::string_view packets;  // soft-RoCE
};

// One end of a transfer: what its node's HCAs counted meanwhile.
struct Side {
  const NodeName& node;
  const spark_verify::Counters& growth;
  RailEnd RailWrite::*end;
  const Direction& direction;
};

std::array<Side, 2> ListSides(const Transfer& transfer);

// Bytes by that HCA's counters; 0: none. `mtu`: of the packets, where only they are counted.
double CountBytes(const Side& side, const std::string& hca, int mtu);
// By the counter of data alone.
double CountData(const Side& side, const std::string& hca);

// What an HCA's counters count of RDMA. mlx5's count what the function itself carried. Others were
// not seen on a Spark; data that arrived and was compared is no fault of the fabric with them.
enum class CounterScope {
  kFunction,
  kCage,  // what all functions of its cage carried together
  kNone,  // nothing, on none of the node's HCAs, although they have counters
};

// By node and HCA; kFunction where it is not in there.
using CounterScopes = std::map<std::pair<NodeName, std::string>, CounterScope>;

// From all transfers together: a counter that grows with its twin's data while the HCA rests is one
// of the cage, if it counts the HCA's own data too. Otherwise the data went another way.
CounterScopes FindCounterScopes(const std::vector<Transfer>& transfers);

CounterScope GetScope(const CounterScopes& scopes, const NodeName& node, const std::string& hca);

}  // namespace reconciler
