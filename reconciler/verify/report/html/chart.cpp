#include "reconciler/verify/report/html/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "reconciler/base/xml.h"

namespace reconciler {
namespace {

// Pixels.
constexpr double kWidth = 640;
constexpr double kHeight = 280;
constexpr double kLeft = 56;
constexpr double kRight = 150;  // names of the lines
constexpr double kTop = 16;
constexpr double kBottom = 44;

constexpr std::size_t kMostSizes = 9;  // that are named: more would touch each other

using Points = std::vector<std::pair<std::uint64_t, double>>;  // bytes, GB/s

std::map<std::string, Points> ListLines(const NcclSummary& summary) {
  std::map<std::string, Points> lines;
  for (const NcclFigure& figure : summary.figures) {
    if (figure.in_place || figure.type != spark_verify::DataType::kFloat || figure.bytes == 0 ||
        !std::isfinite(figure.busbw)) {
      continue;
    }
    lines[std::string(ToString(figure.collective))].emplace_back(figure.bytes, figure.busbw);
  }
  for (auto& [name, points] : lines) std::sort(points.begin(), points.end());
  return lines;
}

class Chart {
 public:
  Chart(const std::map<std::string, Points>& lines, double roofline)
      : lines_(lines), roofline_(roofline) {
    for (const auto& [name, points] : lines_) {
      for (const auto& [bytes, busbw] : points) {
        sizes_.insert(bytes);
        most_ = std::max(most_, busbw);
      }
    }
    most_ = std::max(most_, roofline_) * 1.05;
  }

  std::string Draw() const {
    std::string text = fmt::format(
        "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 {} {}\" aria-label=\"Bus bandwidth of "
        "each "
        "collective over its size\">\n",
        kWidth, kHeight);
    text += DrawAxes();
    if (roofline_ > 0) {
      text += fmt::format(
          "<line class=\"roofline\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n"
          "<text x=\"{3}\" y=\"{4:.1f}\">links: {5:.1f}</text>\n",
          kLeft, kWidth - kRight, Y(roofline_), kWidth - kRight + 6, Y(roofline_) + 4, roofline_);
    }
    std::size_t number = 0;
    for (const auto& [name, points] : lines_) text += DrawLine(name, points, number++);
    return text + "</svg>\n";
  }

 private:
  double X(std::uint64_t bytes) const {
    const double first = std::log2(static_cast<double>(*sizes_.begin()));
    const double last = std::log2(static_cast<double>(*sizes_.rbegin()));
    const double part =
        last > first ? (std::log2(static_cast<double>(bytes)) - first) / (last - first) : 0.5;
    return kLeft + part * (kWidth - kLeft - kRight);
  }
  double Y(double busbw) const {
    return kHeight - kBottom - busbw / most_ * (kHeight - kTop - kBottom);
  }

  std::string DrawAxes() const {
    std::string text;
    for (int i = 0; i <= 4; ++i) {
      const double value = most_ * i / 4;
      text += fmt::format(
          "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n"
          "<text class=\"right\" x=\"{3}\" y=\"{4:.1f}\">{5:.3g}</text>\n",
          kLeft, kWidth - kRight, Y(value), kLeft - 6, Y(value) + 4, value);
    }
    const std::size_t step = sizes_.size() / kMostSizes + 1;
    std::size_t number = 0;
    for (const std::uint64_t bytes : sizes_) {
      if (number++ % step != 0) continue;
      text += fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", X(bytes),
                          kHeight - kBottom + 18, FormatSize(bytes));
    }
    return text + fmt::format("<text x=\"4\" y=\"{}\">GB/s</text>\n", kHeight - 6);
  }

  std::string DrawLine(const std::string& name, const Points& points, std::size_t number) const {
    std::string path;
    for (const auto& [bytes, busbw] : points) {
      path += fmt::format("{:.1f},{:.1f} ", X(bytes), Y(busbw));
    }
    if (!path.empty()) path.pop_back();
    // The names stand below each other, not where the lines end: these often meet.
    return fmt::format(
        "<polyline class=\"line{0}\" points=\"{1}\"/>\n"
        "<line class=\"line{0}\" x1=\"{2}\" x2=\"{3}\" y1=\"{4}\" y2=\"{4}\"/>\n"
        "<text x=\"{5}\" y=\"{6}\">{7} {8:.3g}</text>\n",
        number % 5, path, kWidth - kRight + 6, kWidth - kRight + 18, 56 + 18 * number,
        kWidth - kRight + 22, 60 + 18 * number, EscapeXml(name), points.back().second);
  }

  const std::map<std::string, Points>& lines_;
  double roofline_;
  std::set<std::uint64_t> sizes_ = {};
  double most_ = 0;
};

}  // namespace

std::string DrawNcclChart(const NcclSummary& summary) {
  const std::map<std::string, Points> lines = ListLines(summary);
  const double roofline = summary.roofline ? summary.roofline->ring : 0;
  const bool any = std::any_of(lines.begin(), lines.end(), [](const auto& line) {
    return std::any_of(line.second.begin(), line.second.end(),
                       [](const auto& point) { return point.second > 0; });
  });
  return any ? Chart(lines, roofline).Draw() : "";
}

}  // namespace reconciler
