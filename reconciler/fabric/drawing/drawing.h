#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// What the drawings of a fabric show. Texts are plain: each drawing has its own quoting.
struct Drawing {
  struct Port {
    std::string cage = {};
    int rail = 0;
    std::string address = {};  // with its prefix length
    std::string netdev = {};
    bool operator==(const Port&) const = default;
  };
  struct Device {
    std::string name = {};
    std::string model = {};  // of a switch; empty: not described
    bool is_switch = false;
    int level = 0;                 // 0: nodes; 1: switches with nodes; 2 and up: switches above
    std::vector<Port> ports = {};  // of a node, by cage: p0 is left of p1 as seen from the back
    bool operator==(const Device&) const = default;
  };
  struct Cable {
    std::size_t from = 0;  // index of a device; of the lower level where they differ
    std::size_t to = 0;
    std::string from_port = {};
    std::string to_port = {};  // empty where the switch is not described
    int gbps = 0;              // line rate
    bool operator==(const Cable&) const = default;
  };
  std::string title = {};
  std::vector<Device> devices = {};
  std::vector<Cable> cables = {};
  bool operator==(const Drawing&) const = default;
};

Drawing BuildDrawing(const ClusterSpec& cluster, const Fabric& fabric);

// What a cable was measured to carry, in its slower direction.
struct CableRate {
  std::optional<double> gbps = std::nullopt;   // of payload; nullopt: not measured
  std::optional<double> share = std::nullopt;  // of what it can carry; nullopt: that is not known
};

// By cable of a drawing. Empty: a drawing of the manifest alone, without colours.
using CableRates = std::vector<CableRate>;

// "200 Gb/s", "187.3 of 200 Gb/s".
std::string FormatCableRate(const Drawing& drawing, const CableRates& rates, std::size_t cable);

// Red where a half or less of the share is carried, green from 94 % on: "#1a7f37". Grey: not known.
std::string ChooseHeatColour(const CableRate& rate);

}  // namespace reconciler
