#include "reconciler/fabric/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/fabric/hardware.h"

namespace reconciler {
namespace {

// Cages that reach each other: the two ends of a cable, or all that hang on a switch. Each plane
// has two segments, one per twin.
using Plane = std::vector<std::pair<NodeName, std::string>>;  // node, cage

Plane OneCagePerNode(const ClusterSpec& cluster) {
  Plane plane;
  for (const NodeSpec& node : cluster.nodes) plane.emplace_back(node.name, node.cage);
  return plane;
}

// Cable c goes from p0 of the c-th node by id to p1 of the next one; the last closes the ring.
std::vector<Plane> RingCables(const ClusterSpec& cluster) {
  std::vector<const NodeSpec*> by_id;
  for (const NodeSpec& node : cluster.nodes) by_id.push_back(&node);
  std::sort(by_id.begin(), by_id.end(), [](auto* a, auto* b) { return a->id < b->id; });
  std::vector<Plane> planes;
  for (std::size_t c = 0; c < by_id.size(); ++c) {
    planes.push_back({{by_id[c]->name, "p0"}, {by_id[(c + 1) % by_id.size()]->name, "p1"}});
  }
  return planes;
}

std::vector<Plane> Planes(const ClusterSpec& cluster) {
  std::vector<Plane> planes;
  switch (cluster.fabric.topology) {
    case Topology::kDirect:
    case Topology::kSwitch:
      planes.push_back(OneCagePerNode(cluster));
      break;
    case Topology::kRing:
      return RingCables(cluster);
    case Topology::kLinks:
      break;
    case Topology::kLeafSpine:  // no manifest has it yet
      return planes;
  }
  for (const Cable& link : cluster.fabric.links) {
    planes.push_back({{link.a.node, link.a.cage}, {link.b.node, link.b.cage}});
  }
  return planes;
}

std::string Summary(const ClusterSpec& cluster) {
  const std::string nodes = Plural(cluster.nodes.size(), "node", "nodes");
  const std::size_t links = cluster.fabric.links.size();
  switch (cluster.fabric.topology) {
    case Topology::kDirect: {
      std::vector<std::pair<int, std::string>> cages;
      for (const NodeSpec& node : cluster.nodes) cages.emplace_back(node.id, node.cage);
      std::sort(cages.begin(), cages.end());
      return fmt::format("one cable {}–{}", cages.front().second, cages.back().second);
    }
    case Topology::kRing:
      return Plural(cluster.nodes.size(), "cable", "cables") + " in a ring";
    case Topology::kSwitch:
      if (links == 0) return nodes + " on a switch";
      return fmt::format("{} on a switch, {} beside it", nodes, Plural(links, "cable", "cables"));
    case Topology::kLinks:
      return Plural(links, "cable", "cables");
    case Topology::kLeafSpine:
      break;
  }
  return {};
}

class Expander {
 public:
  explicit Expander(const ClusterSpec& cluster) : cluster_(cluster) {}

  tl::expected<Fabric, Errors> Run() {
    const std::vector<Plane> planes = Planes(cluster_);
    const FabricSpec& spec = cluster_.fabric;
    if (cluster_.nodes.empty() || planes.empty() || spec.subnets.size() != 2 * planes.size() ||
        spec.subnet_positions.size() != spec.subnets.size()) {
      Add(spec.position, fmt::format("wanted nodes and {} subnets for topology {}, found {} and {}",
                                     2 * planes.size(), ToString(spec.topology),
                                     Plural(cluster_.nodes.size(), "node", "nodes"),
                                     Plural(spec.subnets.size(), "subnet", "subnets")));
      return tl::unexpected<Errors>(std::move(errors_));
    }
    for (std::size_t p = 0; p < planes.size(); ++p) {
      AddSegment(planes[p], static_cast<int>(p), 0);
      AddSegment(planes[p], static_cast<int>(p), 1);
    }
    AddUnused(planes);
    fabric_.summary = Summary(cluster_);
    if (!errors_.empty()) return tl::unexpected<Errors>(std::move(errors_));
    return std::move(fabric_);
  }

 private:
  void Add(Position position, std::string message) {
    errors_.push_back({ErrorKind::kManifest, std::move(message), cluster_.Mark(position)});
  }

  void AddSegment(const Plane& plane, int number, int twin) {
    const int rail = 2 * number + twin;
    const auto index = static_cast<std::size_t>(rail);
    Segment segment{rail, cluster_.fabric.subnets[index].Network()};
    for (const NodeSpec& node : cluster_.nodes) {
      for (const auto& [name, cage_name] : plane) {
        if (name != node.name) continue;
        const Cage* cage = DgxSpark().FindCage(cage_name);
        if (cage == nullptr || !Fits(node, segment.subnet)) {
          Add(node.position, fmt::format("wanted cage p0 or p1 and a host number of {} for node "
                                         "'{}', found cage '{}' and id {}",
                                         ToString(segment.subnet), node.name, cage_name, node.id));
          continue;
        }
        const Twin& half = cage->twins[static_cast<std::size_t>(twin)];
        const std::uint32_t bits =
            segment.subnet.address.bits + static_cast<std::uint32_t>(node.id);
        RailPort port{node.name,
                      cage_name,
                      twin,
                      rail,
                      std::string(half.netdev),
                      std::string(half.hca),
                      {{bits}, segment.subnet.length},
                      cluster_.fabric.mtu,
                      cluster_.fabric.subnet_positions[index]};
        fabric_.ports[node.name].push_back(port);
        segment.ports.push_back(std::move(port));
      }
    }
    fabric_.segments.push_back(std::move(segment));
  }

  static bool Fits(const NodeSpec& node, const Ipv4Prefix& subnet) {
    return node.id >= 1 && static_cast<std::uint32_t>(node.id) <= subnet.HostCount();
  }

  void AddUnused(const std::vector<Plane>& planes) {
    std::set<std::pair<NodeName, std::string>> used;
    for (const Plane& plane : planes) used.insert(plane.begin(), plane.end());
    for (const NodeSpec& node : cluster_.nodes) {
      std::vector<std::string>& netdevs = fabric_.unused_netdevs[node.name];
      for (const Cage& cage : DgxSpark().cages) {
        if (used.contains({node.name, std::string(cage.name)})) continue;
        for (const Twin& twin : cage.twins) netdevs.emplace_back(twin.netdev);
      }
    }
  }

  const ClusterSpec& cluster_;
  Fabric fabric_;
  Errors errors_;
};

}  // namespace

tl::expected<Fabric, Errors> ExpandFabric(const ClusterSpec& cluster) {
  return Expander(cluster).Run();
}

}  // namespace reconciler
