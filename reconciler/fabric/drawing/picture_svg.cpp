#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/base/xml.h"
#include "reconciler/fabric/drawing/layout.h"
#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/fabric/drawing/shape.h"

namespace reconciler {
namespace {

// Pixels.
constexpr int kLegendHeight = 28;
constexpr int kLegendWidth = 920;

std::string DrawLabel(const Layout::Label& label) {
  std::string more;
  switch (label.style) {
    case Layout::Style::kPlain:
      break;
    case Layout::Style::kBold:
      more = " font-weight=\"bold\"";
      break;
    case Layout::Style::kSoft:
      more = " fill=\"#57606a\"";
      break;
  }
  if (label.upright)
    more += fmt::format(" transform=\"rotate(-90 {} {})\"", label.at.x, label.at.y);
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", label.at.x, label.at.y, more,
                     EscapeXml(label.text));
}

std::string DrawArea(const Layout::Area& area, int radius, std::string_view fill) {
  return fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{}\" "
      "stroke=\"#57606a\"/>\n",
      area.x, area.y, area.width, area.height, radius, fill);
}

std::string DrawBox(const Layout::Box& box, bool is_switch) {
  std::string text = DrawArea(box.area, is_switch ? 10 : 3, is_switch ? "#dde7f0" : "#edf5e1");
  for (const Layout::Area& tab : box.tabs) text += DrawArea(tab, 2, "#ffffff");
  return text;
}

std::string DrawCable(const std::vector<Layout::Spot>& route, std::string_view style) {
  std::string points;
  for (const Layout::Spot& spot : route) {
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", spot.x, spot.y);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n",
                     points, style);
}

std::string ChooseStyle(const CableRates& rates, std::size_t cable) {
  if (rates.empty()) return "stroke=\"#57606a\" stroke-width=\"2\"";
  const CableRate rate = cable < rates.size() ? rates[cable] : CableRate{};
  return fmt::format("stroke=\"{}\" stroke-width=\"3\"{}", ChooseHeatColour(rate),
                     rate.gbps ? "" : " stroke-dasharray=\"6 4\"");
}

// What the colours stand for. `y`: of its base line.
std::string DrawLegend(int y) {
  constexpr std::string_view kLegend = "measured, of what the cable carries at best:";
  std::string text = fmt::format("<text x=\"12\" y=\"{}\">{}</text>\n", y, kLegend);
  int x = 12 + kGlyph * static_cast<int>(kLegend.size()) + 16;
  const auto add = [&](std::string_view style, const std::string& label) {
    text += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" {}/>\n", x, x + 24, y - 4,
                        y - 4, style);
    text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + 30, y, label);
    x += 30 + kGlyph * static_cast<int>(CountColumns(label)) + 16;
  };
  for (const auto& [share, label] :
       {std::pair(0.5, "half or less"), std::pair(0.72, "72 %"), std::pair(0.94, "94 % or more")}) {
    add(fmt::format("stroke=\"{}\" stroke-width=\"3\"", ChooseHeatColour({.share = share})), label);
  }
  add("stroke=\"#808080\" stroke-width=\"3\" stroke-dasharray=\"6 4\"", "not measured");
  return text;
}

}  // namespace

std::string DrawSvg(const Drawing& drawing, const CableRates& rates) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < drawing.cables.size(); ++i) {
    labels.push_back(FormatCableRate(drawing, rates, i));
  }
  Layout layout = PlaceDrawing(drawing, labels);
  const int width = rates.empty() ? layout.width : std::max(layout.width, kLegendWidth);
  const int height = layout.height + (rates.empty() ? 0 : kLegendHeight);
  const double scale = ComputePageScale(width, height);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
      "viewBox=\"0 0 {} {}\" font-family=\"monospace\" font-size=\"12\" role=\"img\" "
      "aria-label=\"{}\">\n<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n",
      width * scale, height * scale, width, height, EscapeXml(drawing.title), width, height);
  for (std::size_t i = 0; i < layout.routes.size(); ++i) {
    text += DrawCable(layout.routes[i], ChooseStyle(rates, i));
  }
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    text += DrawBox(layout.boxes[i], drawing.devices[i].is_switch);
  }
  for (const Layout::Label& label : layout.labels) text += DrawLabel(label);
  if (!rates.empty()) text += DrawLegend(height - 12);
  return text + "</svg>\n";
}

}  // namespace reconciler
