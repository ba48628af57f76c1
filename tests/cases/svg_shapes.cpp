#include "tests/cases/svg_shapes.h"

#include <algorithm>
#include <regex>

#include "reconciler/base/text.h"

namespace reconciler::test {
namespace {

constexpr double kGlyph = 7.3;  // of a monospace font of 12 px: 0.6 to 0.602 em
constexpr double kAbove = 10;   // of the base line
constexpr double kBelow = 3;

double FindNumber(const std::string& line, const std::string& name) {
  std::smatch match;
  return std::regex_search(line, match, std::regex(" " + name + "=\"(-?[0-9.]+)\""))
             ? std::stod(match[1])
             : 0;
}

SvgBox ReadLabel(const std::string& line) {
  std::smatch match;
  std::regex_search(line, match, std::regex(">([^<]*)</text>"));
  const std::string text = std::regex_replace(match[1].str(), std::regex("&[a-z]+;"), "&");
  const double x = FindNumber(line, "x");
  const double y = FindNumber(line, "y");
  const double length = kGlyph * static_cast<double>(CountColumns(text));
  if (line.find("rotate(-90") != std::string::npos) {
    return {text, x - kAbove, y - length, x + kBelow, y};
  }
  return {text, x, y - kAbove, x + length, y + kBelow};
}

SvgBox ReadRect(const std::string& line) {
  const double x = FindNumber(line, "x");
  const double y = FindNumber(line, "y");
  return {"", x, y, x + FindNumber(line, "width"), y + FindNumber(line, "height")};
}

std::vector<SvgBox> ReadCable(const std::string& line) {
  std::smatch match;
  std::regex_search(line, match, std::regex("points=\"([^\"]*)\""));
  std::vector<std::pair<double, double>> points;
  for (const std::string& point : Split(match[1].str(), ' ')) {
    const std::vector<std::string> parts = Split(point, ',');
    points.emplace_back(std::stod(parts.at(0)), std::stod(parts.at(1)));
  }
  std::vector<SvgBox> parts;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& [x1, y1] = points[i - 1];
    const auto& [x2, y2] = points[i];
    parts.push_back({"", std::min(x1, x2) - 1, std::min(y1, y2) - 1, std::max(x1, x2) + 1,
                     std::max(y1, y2) + 1});
  }
  return parts;
}

}  // namespace

bool Overlap(const SvgBox& a, const SvgBox& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

bool IsWithin(const SvgBox& inner, const SvgBox& outer) {
  return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top &&
         inner.bottom <= outer.bottom;
}

SvgShapes ReadSvg(const std::string& svg) {
  SvgShapes shapes;
  for (const std::string& line : SplitLines(svg)) {
    if (line.starts_with("<svg")) {
      shapes.width = FindNumber(line, "width");
      shapes.height = FindNumber(line, "height");
    } else if (line.starts_with("<rect width")) {
      shapes.canvas = ReadRect(line);
    } else if (line.starts_with("<rect") && line.find("#edf5e1") != std::string::npos) {
      shapes.nodes.push_back(ReadRect(line));
    } else if (line.starts_with("<text")) {
      shapes.labels.push_back(ReadLabel(line));
    } else if (line.starts_with("<polyline")) {
      shapes.cables.push_back(ReadCable(line));
    }
  }
  return shapes;
}

}  // namespace reconciler::test
