#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"

namespace reconciler {
namespace {

using test::Cluster;
using test::Node;

using Addresses = std::map<std::pair<NodeName, std::string>, Ipv4Prefix>;  // by node and netdev

Addresses ListAddresses(const ClusterSpec& cluster) {
  Addresses addresses;
  const Fabric fabric = ExpandFabric(cluster).value();
  for (const auto& [node, ports] : fabric.ports) {
    for (const RailPort& port : ports) addresses[{node, port.netdev}] = port.address;
  }
  return addresses;
}

// Between 2 and 12 nodes with ids of their own, in any order.
std::vector<NodeSpec> AnyNodes() {
  const auto ids = *rc::gen::unique<std::vector<int>>(
      static_cast<std::size_t>(*rc::gen::inRange(2, 13)), rc::gen::inRange(1, 255));
  std::vector<NodeSpec> nodes;
  for (const int id : ids) nodes.push_back(Node(id, *rc::gen::element<std::string>("p0", "p1")));
  return nodes;
}

std::vector<NodeSpec> Shuffled(std::vector<NodeSpec> nodes) {
  for (std::size_t i = nodes.size(); i > 1; --i) {
    std::swap(nodes[i - 1], nodes[*rc::gen::inRange<std::size_t>(0, i)]);
  }
  return nodes;
}

RC_GTEST_PROP(ExpandFabric, OrderOfTheNodesChangesNoAddress, ()) {
  const auto nodes = AnyNodes();
  RC_ASSERT(ListAddresses(Cluster(Topology::kSwitch, nodes, 2)) ==
            ListAddresses(Cluster(Topology::kSwitch, Shuffled(nodes), 2)));
}

RC_GTEST_PROP(ExpandFabric, OrderOfTheNodesChangesNoAddressInARing, ()) {
  auto nodes = AnyNodes();
  while (nodes.size() < 3) nodes.push_back(Node(255 - static_cast<int>(nodes.size())));
  nodes.resize(3);
  RC_PRE(nodes[2].id != nodes[0].id && nodes[2].id != nodes[1].id);
  RC_ASSERT(ListAddresses(Cluster(Topology::kRing, nodes, 6)) ==
            ListAddresses(Cluster(Topology::kRing, Shuffled(nodes), 6)));
}

RC_GTEST_PROP(ExpandFabric, RemovingANodeRenumbersNoNode, ()) {
  const auto nodes = AnyNodes();
  const auto topology =
      *rc::gen::element(Topology::kDirect, Topology::kSwitch, Topology::kLeafSpine);
  auto fewer = nodes;
  fewer.erase(fewer.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(fewer)));
  const Addresses all = ListAddresses(Cluster(topology, nodes, 2));
  for (const auto& [port, address] : ListAddresses(Cluster(topology, fewer, 2))) {
    RC_ASSERT(all.at(port) == address);
  }
}

// The last node's cable to the first one moves; every other cable stays, and so do its addresses.
RC_GTEST_PROP(ExpandFabric, GrowingARingRenumbersOnlyTheCableThatMoves, ()) {
  const int count = *rc::gen::inRange(3, 12);
  std::vector<NodeSpec> nodes;
  for (int id = 1; id <= count; ++id) nodes.push_back(Node(id));
  const Addresses before = ListAddresses(Cluster(Topology::kRing, nodes, 2 * count));
  nodes.push_back(Node(count + 1));
  const Addresses after = ListAddresses(Cluster(Topology::kRing, Shuffled(nodes), 2 * count + 2));
  for (const auto& [port, address] : before) {
    const bool moved = port.first == "spark-1" && port.second.ends_with("np1");
    RC_ASSERT((after.at(port) == address) != moved);
  }
}

// Between 4 and 12 nodes, by id.
std::vector<NodeSpec> AnyRing() {
  const auto ids = *rc::gen::unique<std::vector<int>>(
      static_cast<std::size_t>(*rc::gen::inRange(4, 13)), rc::gen::inRange(1, 255));
  std::vector<NodeSpec> nodes;
  for (const int id : ids) nodes.push_back(Node(id));
  std::sort(nodes.begin(), nodes.end(), [](auto& a, auto& b) { return a.id < b.id; });
  return nodes;
}

ClusterSpec MakeRing(std::vector<NodeSpec> nodes) {
  const int subnets = 2 * static_cast<int>(nodes.size());
  return Cluster(Topology::kRing, std::move(nodes), subnets);
}

// Takes a node (by its place by id) out of a ring, and the two subnets at `place` of the list.
ClusterSpec RemoveChanges(ClusterSpec ring, std::ptrdiff_t node, std::ptrdiff_t place) {
  ring.nodes.erase(ring.nodes.begin() + node);
  FabricSpec& spec = ring.fabric;
  spec.subnets.erase(spec.subnets.begin() + 2 * place, spec.subnets.begin() + 2 * place + 2);
  spec.subnet_positions.resize(spec.subnets.size());
  return ring;
}

// Read backwards it is a node that is put in.
RC_GTEST_PROP(ExpandFabric, RingNodeThatGoesWithItsSubnetsRenumbersOnlyTheCableThatMoved, ()) {
  const auto nodes = AnyRing();
  const auto gone = *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(nodes));
  const NodeName next = nodes[static_cast<std::size_t>(gone + 1) % nodes.size()].name;
  const Addresses all = ListAddresses(MakeRing(nodes));
  ClusterSpec fewer = RemoveChanges(MakeRing(nodes), gone, gone);
  fewer.nodes = Shuffled(fewer.nodes);
  for (const auto& [port, address] : ListAddresses(fewer)) {
    const bool moved = port.first == next && port.second.ends_with("np1");
    RC_ASSERT((all.at(port) == address) != moved);
  }
}

RC_GTEST_PROP(ExpandFabric, RingNodeThatGoesWithOthersSubnetsRenumbersTheCablesBetween, ()) {
  const auto nodes = AnyRing();
  const auto gone = *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(nodes) - 1);
  const Addresses all = ListAddresses(MakeRing(nodes));
  const Addresses after =
      ListAddresses(RemoveChanges(MakeRing(nodes), gone, std::ssize(nodes) - 1));
  for (std::ptrdiff_t n = 0; n < std::ssize(nodes); ++n) {
    if (n == gone) continue;
    const std::pair<NodeName, std::string> port(nodes[static_cast<std::size_t>(n)].name,
                                                "enp1s0f0np0");
    RC_ASSERT((all.at(port) == after.at(port)) == (n < gone));
  }
}

RC_GTEST_PROP(ExpandFabric, CablesBesideASwitchRenumberNoOneWhenNodesComeAndGo, ()) {
  auto nodes = AnyNodes();
  for (NodeSpec& node : nodes) node.cage = "p1";
  const auto with_cable = [](std::vector<NodeSpec> some, const NodeName& a, const NodeName& b) {
    ClusterSpec cluster = Cluster(Topology::kSwitch, std::move(some), 4);
    cluster.fabric.links = {{{a, "p0"}, {b, "p0"}}};
    return ListAddresses(cluster);
  };
  const Addresses all = with_cable(nodes, nodes[0].name, nodes[1].name);
  const std::vector<NodeSpec> pair(nodes.begin(), nodes.begin() + 2);
  for (const auto& [port, address] : with_cable(Shuffled(pair), nodes[0].name, nodes[1].name)) {
    RC_ASSERT(all.at(port) == address);
  }
}

RC_GTEST_PROP(ExpandFabric, NoTwoPortsShareAnAddressAndTwinsNeverShareASubnet, ()) {
  const auto fabric = ExpandFabric(Cluster(Topology::kSwitch, AnyNodes(), 2)).value();
  std::set<Ipv4Address> seen;
  for (const auto& [node, ports] : fabric.ports) {
    RC_ASSERT(!ports[0].address.Overlaps(ports[1].address));
    for (const RailPort& port : ports) RC_ASSERT(seen.insert(port.address.address).second);
  }
}

}  // namespace
}  // namespace reconciler
