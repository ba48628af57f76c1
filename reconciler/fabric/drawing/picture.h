#pragma once

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler {

// The fabric for a person: nodes, cages, cables, switches, rates, addresses; who reaches whom and
// how fast at best; what one failure cuts off; what the switches must have. UTF-8.
std::string DrawFabricText(const ClusterSpec& cluster, const Fabric& fabric);

// The cabling as a drawing: for Graphviz, for Mermaid, and as an SVG file.
std::string DrawFabricDot(const ClusterSpec& cluster, const Fabric& fabric);
std::string DrawFabricMermaid(const ClusterSpec& cluster, const Fabric& fabric);
std::string DrawFabricSvg(const ClusterSpec& cluster, const Fabric& fabric);

// What the three drawings show. Texts are plain: each drawing has its own quoting.
struct Drawing {
  struct Box {
    std::string title = {};
    std::vector<std::string> lines = {};
    int level = 0;  // 0: nodes; 1: switches with nodes; 2 and up: switches above those
  };
  struct Line {
    std::size_t from = 0;  // index of a box; of the lower level where they differ
    std::size_t to = 0;
    std::string from_port = {};
    std::string to_port = {};  // empty where the switch is not described
    std::string rate = {};
  };
  std::string title = {};
  std::vector<Box> boxes = {};
  std::vector<Line> lines = {};
};
Drawing BuildDrawing(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler
