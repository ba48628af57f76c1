#include <fmt/format.h>

#include <map>
#include <set>

#include "reconciler/fabric/drawing/picture.h"

namespace reconciler {
namespace {

std::string MakeKey(const PlugEnd& end) { return (end.on_switch ? "s " : "n ") + end.device; }

class Drawer {
 public:
  Drawer(const ClusterSpec& cluster, const Fabric& fabric) : cluster_(cluster), fabric_(fabric) {}

  Drawing Run() {
    drawing_.title = cluster_.name + " · " + fabric_.summary;
    for (const NodeSpec& node : cluster_.nodes) AddNode(node);
    for (const SwitchSpec& one : cluster_.switches) {
      Add("s " + one.name, one.name);
      if (!one.model.empty()) drawing_.boxes.back().lines.push_back(one.model);
    }
    for (const Wire& wire : fabric_.wires) {
      if (wire.b.on_switch && wire.b.device.empty()) Add(MakeKey(wire.b), "switch");
    }
    SetLevels();
    for (const Wire& wire : fabric_.wires) AddLine(wire);
    return std::move(drawing_);
  }

 private:
  void Add(const std::string& key, const std::string& title) {
    if (index_.emplace(key, drawing_.boxes.size()).second) {
      drawing_.boxes.push_back({.title = title});
    }
  }

  void AddNode(const NodeSpec& node) {
    Add("n " + node.name, node.name);
    const auto ports = fabric_.ports.find(node.name);
    if (ports == fabric_.ports.end()) return;
    for (const RailPort& port : ports->second) {
      drawing_.boxes.back().lines.push_back(fmt::format("{} {} {} {}", port.cage,
                                                        FormatRailName(port.rail),
                                                        ToString(port.address), port.netdev));
    }
  }

  // A switch stands one level above the lowest thing that is cabled to it.
  void SetLevels() {
    std::map<std::size_t, std::set<std::size_t>> next;
    std::set<std::size_t> row;
    for (const Wire& wire : fabric_.wires) {
      const std::size_t a = index_.at(MakeKey(wire.a));
      const std::size_t b = index_.at(MakeKey(wire.b));
      next[a].insert(b);
      next[b].insert(a);
      if (!wire.a.on_switch && wire.b.on_switch) row.insert(b);
    }
    std::set<std::size_t> placed;
    for (int level = 1; !row.empty(); ++level) {
      std::set<std::size_t> above;
      placed.insert(row.begin(), row.end());
      for (const std::size_t box : row) {
        drawing_.boxes[box].level = level;
        for (const std::size_t other : next[box]) {
          const bool is_node = other < cluster_.nodes.size();
          if (!is_node && !placed.contains(other)) above.insert(other);
        }
      }
      row = std::move(above);
    }
    for (std::size_t box = cluster_.nodes.size(); box < drawing_.boxes.size(); ++box) {
      if (!placed.contains(box)) drawing_.boxes[box].level = 1;
    }
  }

  void AddLine(const Wire& wire) {
    const std::size_t a = index_.at(MakeKey(wire.a));
    const std::size_t b = index_.at(MakeKey(wire.b));
    Drawing::Line line{a, b, wire.a.port, wire.b.port, fmt::format("{} Gb/s", wire.gbps)};
    if (drawing_.boxes[a].level > drawing_.boxes[b].level) {
      std::swap(line.from, line.to);
      std::swap(line.from_port, line.to_port);
    }
    drawing_.lines.push_back(std::move(line));
  }

  const ClusterSpec& cluster_;
  const Fabric& fabric_;
  Drawing drawing_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace

Drawing BuildDrawing(const ClusterSpec& cluster, const Fabric& fabric) {
  return Drawer(cluster, fabric).Run();
}

}  // namespace reconciler
