#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reconciler/cabling/judge.h"
#include "tests/support/clusters.h"

namespace reconciler::test {

// Nodes whose cages all have no cable yet. A cable gives both ends a link, and each twin hears the
// twin at the other end.
class Cabled {
 public:
  Cabled(ClusterSpec cluster) : cluster_(std::move(cluster)) {
    for (const NodeSpec& node : cluster_.nodes) {
      CablingView& view = views[node.name];
      view.hostname = node.name;
      for (const CagePort& port : ListCagePorts(cluster_, node)) {
        view.ports[port.netdev] = {PortState::kNoCarrier, Mac(node, view.ports.size()), {}, {}};
      }
    }
  }

  void Plug(int a, const std::string& a_cage, int b, const std::string& b_cage) {
    Hear(a, a_cage, b, b_cage);
    Hear(b, b_cage, a, a_cage);
  }

  // Both get a link; the first hears the second and not the other way round.
  void Hear(int a, const std::string& a_cage, int b, const std::string& b_cage) {
    const std::vector<PortView*> from = Ports(a, a_cage);
    const std::vector<PortView*> to = Ports(b, b_cage);
    for (std::size_t twin = 0; twin < std::min(from.size(), to.size()); ++twin) {
      for (PortView* port : {from[twin], to[twin]}) {
        port->state = PortState::kLink;
        port->addresses = {"fe80::" + port->mac.substr(12)};
      }
      from[twin]->heard["fe80::" + to[twin]->mac.substr(12)] = to[twin]->mac;
    }
  }

  std::vector<PortView*> Ports(int node, const std::string& cage) {
    std::vector<PortView*> ports;
    const NodeSpec& spec = cluster_.nodes.at(static_cast<std::size_t>(node - 1));
    for (const CagePort& port : ListCagePorts(cluster_, spec)) {
      if (port.cage == cage) ports.push_back(&views[spec.name].ports[port.netdev]);
    }
    return ports;
  }

  CablingReport Judge() const { return JudgeCabling(cluster_, views); }

  // "confirmed spark-1 right – spark-2 right: found from both ends"
  std::vector<std::string> Cables() const {
    std::vector<std::string> lines;
    for (const CableVerdict& verdict : Judge().cables) {
      lines.push_back(fmt::format("{} {}: {}", ToString(verdict.state),
                                  DescribeCable(verdict.cable), verdict.detail));
    }
    return lines;
  }

  std::vector<std::string> Wrong() const { return Judge().wrong; }

  CablingViews views = {};

 private:
  static std::string Mac(const NodeSpec& node, std::size_t port) {
    return fmt::format("02:53:50:00:{:02x}:{:02x}", node.id, port);
  }

  ClusterSpec cluster_;
};

inline std::vector<NodeSpec> Nodes(int count) {
  std::vector<NodeSpec> nodes;
  for (int id = 1; id <= count; ++id) nodes.push_back(Node(id));
  return nodes;
}

inline Cabled Pair() { return Cabled(Cluster(Topology::kDirect, Nodes(2), 2)); }
inline Cabled Ring() { return Cabled(Cluster(Topology::kRing, Nodes(3), 6)); }
inline Cabled Switched(int count) { return Cabled(Cluster(Topology::kSwitch, Nodes(count), 2)); }

}  // namespace reconciler::test
