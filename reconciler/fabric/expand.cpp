#include "reconciler/fabric/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/diagnose.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/fabric/planes.h"

namespace reconciler {
namespace {

std::string FormatSummary(const ClusterSpec& cluster) {
  const std::string nodes = FormatPlural(cluster.nodes.size(), "node", "nodes");
  const std::size_t links = cluster.fabric.links.size();
  const auto beside = [&](std::string text) {
    return links == 0
               ? text
               : fmt::format("{}, {} beside it", text, FormatPlural(links, "cable", "cables"));
  };
  switch (cluster.fabric.topology) {
    case Topology::kDirect: {
      std::vector<std::pair<int, std::string>> cages;
      for (const NodeSpec& node : cluster.nodes) cages.emplace_back(node.id, node.cage);
      std::sort(cages.begin(), cages.end());
      return fmt::format("one cable {}–{}", cages.front().second, cages.back().second);
    }
    case Topology::kRing:
      return FormatPlural(cluster.nodes.size(), "cable", "cables") + " in a ring";
    case Topology::kSwitch:
      return beside(nodes + " on a switch");
    case Topology::kLeafSpine:
      return beside(fmt::format("{} on {}", nodes,
                                FormatPlural(cluster.switches.size(), "switch", "switches")));
    case Topology::kLinks:
      return FormatPlural(links, "cable", "cables");
  }
  return {};
}

class Expander {
 public:
  explicit Expander(const ClusterSpec& cluster)
      : cluster_(cluster), link_local_(FindLinkLocal(cluster)) {}

  tl::expected<Fabric, Errors> Run() {
    CheckCages();
    if (!errors_.empty()) return tl::unexpected<Errors>(std::move(errors_));
    const std::vector<Plane> planes = ListPlanes(cluster_);
    std::size_t rails = 0;
    for (const Plane& plane : planes) rails += CountPlaneRails(cluster_, plane);
    const FabricSpec& spec = cluster_.fabric;
    CheckLinkLocal();
    if (link_local_ != nullptr && rails > 0) --rails;  // the last one needs none
    if (cluster_.nodes.empty() || planes.empty() || spec.subnets.size() != rails ||
        spec.subnet_positions.size() != spec.subnets.size()) {
      Add("manifest-subnet-count", spec.position,
          fmt::format("wanted nodes and {} subnets for topology {}, found {} and {}", rails,
                      ToString(spec.topology), FormatPlural(cluster_.nodes.size(), "node", "nodes"),
                      FormatPlural(spec.subnets.size(), "subnet", "subnets")));
      return tl::unexpected<Errors>(std::move(errors_));
    }
    for (std::size_t p = 0; p < planes.size(); ++p) {
      const std::size_t twins = CountPlaneRails(cluster_, planes[p]);
      for (std::size_t i = 0; i < twins; ++i) AddSegment(planes[p], p, i);
    }
    AddUnused(planes);
    fabric_.wires = ListWires(cluster_, planes);
    fabric_.summary = FormatSummary(cluster_);
    fabric_.diagnostics = DiagnoseFabric(cluster_, fabric_);
    if (!errors_.empty()) return tl::unexpected<Errors>(std::move(errors_));
    return std::move(fabric_);
  }

 private:
  void Add(std::string code, Position position, std::string message) {
    errors_.push_back(
        MakeManifestError(std::move(code), cluster_.Mark(position), std::move(message)));
  }

  // What the checks of the manifest refuse, for a spec that did not go through them.
  void CheckCages() {
    for (const Plane& plane : ListPlanes(cluster_)) {
      for (const auto& [node, cage] : plane.ends) {
        if (node == nullptr) {
          Add("manifest-unknown-name", cluster_.fabric.position,
              "wanted links between nodes of the cluster");
          continue;
        }
        if (FindCage(cluster_, *node, cage) != nullptr) continue;
        Add("manifest-wrong-cage", node->position,
            fmt::format("wanted a cage of hardware {} for node '{}', found '{}'", node->hardware,
                        node->name, cage));
      }
    }
  }

  // On a switch, and where a node has several such rails, an address would not say which way leads
  // to it.
  void CheckLinkLocal() {
    const FabricSpec& spec = cluster_.fabric;
    if (link_local_ == nullptr || spec.topology == Topology::kDirect) return;
    Add("manifest-link-local", link_local_->position,
        fmt::format("wanted topology direct for link-local addresses, found {}",
                    ToString(spec.topology)));
  }

  // Which of a cage's functions the rail `i` of its plane has.
  std::size_t ChooseTwin(const Cage& cage, std::size_t i) const {
    return cluster_.fabric.twins == Twins::kSecond ? cage.twins.size() - 1 : i;
  }

  void AddSegment(const Plane& plane, std::size_t number, std::size_t i) {
    const FabricSpec& spec = cluster_.fabric;
    const std::size_t index = fabric_.segments.size();
    const int rail = static_cast<int>(index);
    const bool link_local = link_local_ != nullptr && index == spec.subnets.size();
    Segment segment{.rail = rail,
                    .subnet = link_local ? kLinkLocalSubnet : spec.subnets[index].Network(),
                    .plane = static_cast<int>(number)};
    const Position position = link_local ? link_local_->position : spec.subnet_positions[index];
    std::vector<PlaneEnd> ends = plane.ends;  // in node order of the manifest
    std::sort(ends.begin(), ends.end(),
              [](const PlaneEnd& a, const PlaneEnd& b) { return std::less<>()(a.node, b.node); });
    for (const PlaneEnd& end : ends) {
      const NodeSpec& node = *end.node;
      const Cage* cage = FindCage(cluster_, node, end.cage);
      if (cage == nullptr || i >= cage->twins.size()) continue;
      const std::size_t twin = ChooseTwin(*cage, i);
      if (!link_local && !Fits(node, segment.subnet)) {
        Add("manifest-id-wrong", node.position,
            fmt::format("wanted a host number of {} for node '{}', found id {}",
                        ToString(segment.subnet), node.name, node.id));
        continue;
      }
      const std::uint32_t bits =
          segment.subnet.address.bits + (link_local ? 0 : static_cast<std::uint32_t>(node.id));
      RailPort port{node.name,
                    end.cage,
                    static_cast<int>(twin),
                    rail,
                    cage->twins[twin].netdev,
                    cage->twins[twin].hca,
                    {{bits}, segment.subnet.length},
                    spec.mtu,
                    position};
      fabric_.ports[node.name].push_back(port);
      segment.ports.push_back(std::move(port));
    }
    fabric_.segments.push_back(std::move(segment));
  }

  static bool Fits(const NodeSpec& node, const Ipv4Prefix& subnet) {
    return node.id >= 1 && static_cast<std::uint32_t>(node.id) <= subnet.HostCount();
  }

  // A twin that only one end of the cable has belongs to a cage in use: it is left alone.
  void AddUnused(const std::vector<Plane>& planes) {
    std::set<std::pair<const NodeSpec*, std::string>> used;
    for (const Plane& plane : planes) {
      for (const PlaneEnd& end : plane.ends) used.emplace(end.node, end.cage);
    }
    for (const NodeSpec& node : cluster_.nodes) {
      std::vector<std::string>& netdevs = fabric_.unused_netdevs[node.name];
      const Hardware* hardware = cluster_.FindHardware(node);
      if (hardware == nullptr) continue;
      for (const Cage& cage : hardware->cages) {
        if (used.contains({&node, cage.name})) continue;
        for (const Twin& twin : cage.twins) netdevs.push_back(twin.netdev);
      }
    }
  }

  const ClusterSpec& cluster_;
  const Value* link_local_;  // see FindLinkLocal
  Fabric fabric_;
  Errors errors_;
};

}  // namespace

tl::expected<Fabric, Errors> ExpandFabric(const ClusterSpec& cluster) {
  return Expander(cluster).Run();
}

}  // namespace reconciler
