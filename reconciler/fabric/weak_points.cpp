#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/biconnected_components.hpp>
#include <iterator>
#include <map>
#include <set>

#include "reconciler/fabric/analysis.h"

namespace reconciler {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;

// One plane: nodes, cables and switches are its vertices. Nodes forward nothing, and each has one
// cable in a plane, so that no path leads through a node.
class PlaneGraph {
 public:
  PlaneGraph(const Fabric& fabric, int plane) {
    for (const Wire& wire : fabric.wires) {
      if (wire.plane != plane) continue;
      const std::size_t self = Add(FormatWire(wire), /*node=*/"");
      boost::add_edge(FindVertex(wire.a), self, graph_);
      boost::add_edge(self, FindVertex(wire.b), graph_);
    }
  }

  // For each cable or switch that the plane falls apart without: its name and the parts that
  // remain, as the nodes in them.
  std::map<std::string, std::vector<std::set<NodeName>>> FindCuts() const {
    std::vector<std::size_t> points;
    boost::articulation_points(graph_, std::back_inserter(points));
    std::map<std::string, std::vector<std::set<NodeName>>> cuts;
    for (const std::size_t point : points) {
      if (nodes_[point].empty()) cuts[names_[point]] = FindPartsWithout(point);
    }
    return cuts;
  }

  const std::vector<NodeName>& nodes() const { return nodes_; }  // empty text: no node

 private:
  static std::string FormatWire(const Wire& wire) {
    const auto end = [](const PlugEnd& plug) {
      return plug.port.empty() ? (plug.device.empty() ? std::string("switch") : plug.device)
                               : plug.device + "." + plug.port;
    };
    return fmt::format("cable {}–{}", end(wire.a), end(wire.b));
  }

  std::size_t Add(const std::string& name, const NodeName& node) {
    const auto [found, fresh] = index_.emplace(name, names_.size());
    if (fresh) {
      names_.push_back(name);
      nodes_.push_back(node);
      boost::add_vertex(graph_);
    }
    return found->second;
  }

  std::size_t FindVertex(const PlugEnd& end) {
    if (!end.on_switch) return Add("node " + end.device, end.device);
    return Add(end.device.empty() ? "the switch" : "switch " + end.device, "");
  }

  std::vector<std::set<NodeName>> FindPartsWithout(std::size_t gone) const {
    std::vector<bool> seen(names_.size());
    seen[gone] = true;
    std::vector<std::set<NodeName>> parts;
    for (std::size_t start = 0; start < names_.size(); ++start) {
      if (seen[start]) continue;
      std::set<NodeName> part;
      std::vector<std::size_t> open = {start};
      seen[start] = true;
      while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        if (!nodes_[at].empty()) part.insert(nodes_[at]);
        for (auto [next, end] = boost::adjacent_vertices(at, graph_); next != end; ++next) {
          if (seen[*next]) continue;
          seen[*next] = true;
          open.push_back(*next);
        }
      }
      if (!part.empty()) parts.push_back(std::move(part));
    }
    return parts;
  }

  Graph graph_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::string> names_;
  std::vector<NodeName> nodes_;
};

using PlanesByNode = std::map<NodeName, std::set<int>>;

// Whether two nodes meet in another plane as well.
bool CanMeetElsewhere(const PlanesByNode& planes, const NodeName& a, const NodeName& b, int plane) {
  const std::set<int>& others = planes.at(b);
  return std::any_of(planes.at(a).begin(), planes.at(a).end(),
                     [&](int one) { return one != plane && others.contains(one); });
}

// The nodes that lose someone, without the largest part: that one is what they are cut off from.
std::set<NodeName> FindCutOff(const std::vector<std::set<NodeName>>& parts,
                              const PlanesByNode& planes, int plane) {
  const auto largest = std::max_element(
      parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::set<NodeName> cut;
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    if (part == largest && part->size() > 1) continue;
    for (const NodeName& node : *part) {
      const bool loses = std::any_of(parts.begin(), parts.end(), [&](const auto& other) {
        return &other != &*part && std::any_of(other.begin(), other.end(), [&](const auto& peer) {
          return !CanMeetElsewhere(planes, node, peer, plane);
        });
      });
      if (loses) cut.insert(node);
    }
  }
  return cut;
}

}  // namespace

std::vector<WeakPoint> FindWeakPoints(const ClusterSpec& cluster, const Fabric& fabric) {
  PlanesByNode planes;
  std::set<int> numbers;
  for (const Wire& wire : fabric.wires) {
    numbers.insert(wire.plane);
    for (const PlugEnd* end : {&wire.a, &wire.b}) {
      if (!end->on_switch) planes[end->device].insert(wire.plane);
    }
  }
  std::vector<WeakPoint> points;
  for (const int plane : numbers) {
    for (const auto& [what, parts] : PlaneGraph(fabric, plane).FindCuts()) {
      const std::set<NodeName> cut = FindCutOff(parts, planes, plane);
      if (cut.empty()) continue;
      WeakPoint point{.what = what};
      for (const NodeSpec& node : cluster.nodes) {
        if (cut.contains(node.name)) point.cut_off.push_back(node.name);
      }
      point.own_cable = cut.size() == 1 && what.starts_with("cable " + *cut.begin() + ".");
      points.push_back(std::move(point));
    }
  }
  return points;
}

}  // namespace reconciler
