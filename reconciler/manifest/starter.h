#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler {

constexpr std::size_t kMostStarterNodes = 64;  // on a switch

// What a starter manifest is made from. `topology`: kDirect with two nodes, kRing with three, or
// kSwitch with two or more.
struct Starter {
  Topology topology = Topology::kDirect;
  std::size_t nodes = 2;
  // Management addresses, in the order of the nodes; fewer than `nodes`: the rest are examples, in
  // 192.168.1.0/24 from .21.
  std::vector<std::string> addresses = {};
  std::string user = "nvidia";  // who logs in
  // Who logs in to each node, in their order; empty, or of fewer nodes: as in `user`.
  std::vector<std::string> users = {};
};

// Why no manifest can be made from it; empty: one can.
std::string ExplainBadStarter(const Starter& starter);

// A manifest with comments, for a person to edit. Precondition: ExplainBadStarter is empty.
std::string FormatStarter(const Starter& starter);

// The first line of that manifest, a comment that says what the cluster is.
std::string FormatStarterHead(Topology topology, std::size_t nodes);

// Whether a comment is such a line, of a starter or an example, and no one's own words.
bool IsStarterHead(std::string_view line, Topology topology, std::size_t nodes);

}  // namespace reconciler
