#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reconciler/fabric/drawing/drawing.h"

namespace reconciler {

// The fabric for a person: nodes, cages, cables, switches, rates, addresses; who reaches whom and
// how fast at best; what one failure cuts off; what the switches must have. UTF-8.
std::string DrawFabricText(const ClusterSpec& cluster, const Fabric& fabric);

// The cabling for Graphviz, for Mermaid, and as an SVG element that fits on a page of A4 in
// landscape. With `rates`, each cable has the colour of what it was measured to carry.
std::string DrawDot(const Drawing& drawing, const CableRates& rates = {});
std::string DrawMermaid(const Drawing& drawing, const CableRates& rates = {});
std::string DrawSvg(const Drawing& drawing, const CableRates& rates = {});

// What the text says, for a program: schema/graph.schema.json. Precondition: the drawing is of that
// fabric.
nlohmann::ordered_json DrawJson(const ClusterSpec& cluster, const Fabric& fabric,
                                const Drawing& drawing, const CableRates& rates = {});

}  // namespace reconciler
