#include "reconciler/fabric/drawing/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "reconciler/fabric/link_local.h"

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
      Add("s " + one.name, {.name = one.name, .model = one.model, .is_switch = true});
    }
    for (const Wire& wire : fabric_.wires) {
      if (wire.b.on_switch && wire.b.device.empty()) {
        Add(MakeKey(wire.b), {.name = "switch", .is_switch = true});
      }
    }
    SetLevels();
    for (const Wire& wire : fabric_.wires) AddCable(wire);
    return std::move(drawing_);
  }

 private:
  void Add(const std::string& key, Drawing::Device device) {
    if (index_.emplace(key, drawing_.devices.size()).second) {
      drawing_.devices.push_back(std::move(device));
    }
  }

  void AddNode(const NodeSpec& node) {
    Drawing::Device device{.name = node.name};
    const auto ports = fabric_.ports.find(node.name);
    if (ports != fabric_.ports.end()) {
      for (const RailPort& port : ports->second) {
        device.ports.push_back({port.cage, port.rail, FormatPortAddress(port), port.netdev});
      }
    }
    std::stable_sort(device.ports.begin(), device.ports.end(),
                     [](const auto& a, const auto& b) { return a.cage < b.cage; });
    Add("n " + node.name, std::move(device));
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
      for (const std::size_t device : row) {
        drawing_.devices[device].level = level;
        for (const std::size_t other : next[device]) {
          if (drawing_.devices[other].is_switch && !placed.contains(other)) above.insert(other);
        }
      }
      row = std::move(above);
    }
    for (std::size_t device = 0; device < drawing_.devices.size(); ++device) {
      if (drawing_.devices[device].is_switch && !placed.contains(device)) {
        drawing_.devices[device].level = 1;
      }
    }
  }

  void AddCable(const Wire& wire) {
    const std::size_t a = index_.at(MakeKey(wire.a));
    const std::size_t b = index_.at(MakeKey(wire.b));
    Drawing::Cable cable{a, b, wire.a.port, wire.b.port, wire.gbps};
    if (drawing_.devices[a].level > drawing_.devices[b].level) {
      std::swap(cable.from, cable.to);
      std::swap(cable.from_port, cable.to_port);
    }
    drawing_.cables.push_back(std::move(cable));
  }

  const ClusterSpec& cluster_;
  const Fabric& fabric_;
  Drawing drawing_;
  std::map<std::string, std::size_t> index_;
};

using Colour = std::array<double, 3>;  // red, green, blue; 0 to 255

Colour Mix(const Colour& a, const Colour& b, double part) {
  Colour mixed{};
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = a[i] + (b[i] - a[i]) * part;
  return mixed;
}

}  // namespace

Drawing BuildDrawing(const ClusterSpec& cluster, const Fabric& fabric) {
  return Drawer(cluster, fabric).Run();
}

std::string FormatCableRate(const Drawing& drawing, const CableRates& rates, std::size_t cable) {
  const int gbps = drawing.cables.at(cable).gbps;
  if (cable >= rates.size() || !rates[cable].gbps) return fmt::format("{} Gb/s", gbps);
  return fmt::format("{:.1f} of {} Gb/s", *rates[cable].gbps, gbps);
}

std::string ChooseHeatColour(const CableRate& rate) {
  constexpr Colour kRed = {198, 40, 40};
  constexpr Colour kYellow = {200, 130, 0};
  constexpr Colour kGreen = {26, 127, 55};
  constexpr double kLow = 0.5;
  constexpr double kHigh = 0.94;  // what verify passes
  if (!rate.share) return "#808080";
  const double part = std::clamp((*rate.share - kLow) / (kHigh - kLow), 0.0, 1.0);
  const Colour colour =
      part < 0.5 ? Mix(kRed, kYellow, part * 2) : Mix(kYellow, kGreen, part * 2 - 1);
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(colour[0]),
                     static_cast<int>(colour[1]), static_cast<int>(colour[2]));
}

}  // namespace reconciler
