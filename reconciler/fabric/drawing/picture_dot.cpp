#include <fmt/format.h>

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

}  // namespace

std::string DrawFabricDot(const ClusterSpec& cluster, const Fabric& fabric) {
  const Drawing drawing = BuildDrawing(cluster, fabric);
  std::string text = fmt::format(
      "graph \"{0}\" {{\n  label=\"{0}\";\n  rankdir=BT;\n  node [shape=box, "
      "fontname=\"monospace\"];\n  edge [fontname=\"monospace\", fontsize=10];\n",
      QuoteDot(drawing.title));
  for (std::size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Drawing::Box& box = drawing.boxes[i];
    std::string label = QuoteDot(box.title) + "\\n";
    for (const std::string& line : box.lines) label += QuoteDot(line) + "\\l";
    text += fmt::format("  b{} [label=\"{}\"{}];\n", i, label,
                        box.level > 0 ? ", style=\"filled,rounded\", fillcolor=\"lightgrey\"" : "");
  }
  for (const Drawing::Line& line : drawing.lines) {
    text +=
        fmt::format("  b{} -- b{} [label=\"{}\", taillabel=\"{}\", headlabel=\"{}\"];\n", line.from,
                    line.to, QuoteDot(line.rate), QuoteDot(line.from_port), QuoteDot(line.to_port));
  }
  return text + "}\n";
}

std::string DrawFabricMermaid(const ClusterSpec& cluster, const Fabric& fabric) {
  const Drawing drawing = BuildDrawing(cluster, fabric);
  std::string text =
      fmt::format("---\ntitle: \"{}\"\n---\ngraph BT\n", QuoteMermaid(drawing.title));
  for (std::size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Drawing::Box& box = drawing.boxes[i];
    std::string label = QuoteMermaid(box.title);
    for (const std::string& line : box.lines) label += "<br/>" + QuoteMermaid(line);
    text += fmt::format("  b{}{}\"{}\"{}\n", i, box.level > 0 ? "([" : "[", label,
                        box.level > 0 ? "])" : "]");
  }
  for (const Drawing::Line& line : drawing.lines) {
    std::string label = line.from_port;
    if (!line.to_port.empty()) label += " – " + line.to_port;
    text += fmt::format("  b{} ---|\"{} · {}\"| b{}\n", line.from, QuoteMermaid(label),
                        QuoteMermaid(line.rate), line.to);
  }
  return text;
}

}  // namespace reconciler
