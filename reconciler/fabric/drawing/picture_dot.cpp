#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reconciler/fabric/drawing/picture.h"

namespace reconciler {
namespace {

std::string QuoteDot(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

// Mermaid takes HTML entities within quotes.
std::string QuoteMermaid(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "#quot;";
        break;
      case '#':
        quoted += "#35;";
        break;
      case '<':
        quoted += "#lt;";
        break;
      case '>':
        quoted += "#gt;";
        break;
      case '&':
        quoted += "#amp;";
        break;
      default:
        quoted += c;
    }
  }
  return quoted;
}

// "p1 rail0 192.168.177.1/24 enp1s0f1np1"; of a switch its model.
std::vector<std::string> ListLines(const Drawing::Device& device) {
  std::vector<std::string> lines;
  if (!device.model.empty()) lines.push_back(device.model);
  for (const Drawing::Port& port : device.ports) {
    lines.push_back(fmt::format("{} {} {} {}", port.cage, FormatRailName(port.rail), port.address,
                                port.netdev));
  }
  return lines;
}

}  // namespace

std::string DrawDot(const Drawing& drawing, const CableRates& rates) {
  std::string text = fmt::format(
      "graph \"{0}\" {{\n  label=\"{0}\";\n  rankdir=BT;\n  node [shape=box, "
      "fontname=\"monospace\"];\n  edge [fontname=\"monospace\", fontsize=10];\n",
      QuoteDot(drawing.title));
  for (std::size_t i = 0; i < drawing.devices.size(); ++i) {
    const Drawing::Device& device = drawing.devices[i];
    std::string label = QuoteDot(device.name) + "\\n";
    for (const std::string& line : ListLines(device)) label += QuoteDot(line) + "\\l";
    text +=
        fmt::format("  b{} [label=\"{}\"{}];\n", i, label,
                    device.is_switch ? ", style=\"filled,rounded\", fillcolor=\"lightgrey\"" : "");
  }
  for (std::size_t i = 0; i < drawing.cables.size(); ++i) {
    const Drawing::Cable& cable = drawing.cables[i];
    const std::string colour =
        i < rates.size() ? fmt::format(", color=\"{}\", penwidth=3", ChooseHeatColour(rates[i]))
                         : "";
    text += fmt::format("  b{} -- b{} [label=\"{}\", taillabel=\"{}\", headlabel=\"{}\"{}];\n",
                        cable.from, cable.to, FormatCableRate(drawing, rates, i),
                        QuoteDot(cable.from_port), QuoteDot(cable.to_port), colour);
  }
  return text + "}\n";
}

std::string DrawMermaid(const Drawing& drawing, const CableRates& rates) {
  std::string text =
      fmt::format("---\ntitle: \"{}\"\n---\ngraph BT\n", QuoteMermaid(drawing.title));
  for (std::size_t i = 0; i < drawing.devices.size(); ++i) {
    const Drawing::Device& device = drawing.devices[i];
    std::string label = QuoteMermaid(device.name);
    for (const std::string& line : ListLines(device)) label += "<br/>" + QuoteMermaid(line);
    text += fmt::format("  b{}{}\"{}\"{}\n", i, device.is_switch ? "([" : "[", label,
                        device.is_switch ? "])" : "]");
  }
  for (std::size_t i = 0; i < drawing.cables.size(); ++i) {
    const Drawing::Cable& cable = drawing.cables[i];
    std::string label = cable.from_port;
    if (!cable.to_port.empty()) label += " – " + cable.to_port;
    text += fmt::format("  b{} ---|\"{} · {}\"| b{}\n", cable.from, QuoteMermaid(label),
                        FormatCableRate(drawing, rates, i), cable.to);
  }
  for (std::size_t i = 0; i < std::min(rates.size(), drawing.cables.size()); ++i) {
    text +=
        fmt::format("  linkStyle {} stroke:{},stroke-width:3px\n", i, ChooseHeatColour(rates[i]));
  }
  return text;
}

}  // namespace reconciler
