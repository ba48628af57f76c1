#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "reconciler/base/xml.h"
#include "reconciler/fabric/drawing/picture.h"

namespace reconciler {
namespace {

// Pixels; the font is monospace of 12 px.
constexpr int kGlyph = 8;
constexpr int kRow = 16;
constexpr int kPadding = 10;
constexpr int kGap = 40;        // between boxes of a level
constexpr int kLevelGap = 130;  // between levels: room for cables and their labels
constexpr int kTitle = 40;

struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

class SvgWriter {
 public:
  explicit SvgWriter(const Drawing& drawing) : drawing_(drawing), rects_(drawing.boxes.size()) {
    Place();
  }

  std::string Run() {
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"monospace\" font-size=\"12\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        width_, height_);
    text += DrawLabel(kPadding, kPadding + kRow, drawing_.title, "font-size=\"16\"");
    for (const Drawing::Line& line : drawing_.lines) text += DrawCable(line);
    for (std::size_t i = 0; i < drawing_.boxes.size(); ++i) text += DrawBox(i);
    return text + "</svg>\n";
  }

 private:
  // The highest level on top; each level in the middle.
  void Place() {
    std::map<int, std::vector<std::size_t>, std::greater<>> levels;
    for (std::size_t i = 0; i < drawing_.boxes.size(); ++i) {
      levels[drawing_.boxes[i].level].push_back(i);
      rects_[i] = Measure(drawing_.boxes[i]);
    }
    for (const auto& [level, boxes] : levels) width_ = std::max(width_, ComputeWidth(boxes));
    width_ =
        std::max(width_, 2 * kPadding + kGlyph * 2 * static_cast<int>(drawing_.title.size()) / 2);
    int y = kTitle + (levels.size() == 1 ? kLevelGap : 0);  // cables between nodes go above them
    for (const auto& [level, boxes] : levels) {
      int x = (width_ - ComputeWidth(boxes)) / 2 + kGap;
      int tallest = 0;
      for (const std::size_t i : boxes) {
        rects_[i].x = x;
        rects_[i].y = y;
        x += rects_[i].width + kGap;
        tallest = std::max(tallest, rects_[i].height);
      }
      y += tallest + kLevelGap;
    }
    height_ = y - kLevelGap + 2 * kPadding + (levels.size() == 1 ? 0 : kLevelGap / 2);
  }

  static Rect Measure(const Drawing::Box& box) {
    std::size_t longest = box.title.size();
    for (const std::string& line : box.lines) longest = std::max(longest, line.size());
    return {.width = kGlyph * static_cast<int>(longest) + 2 * kPadding,
            .height = kRow * static_cast<int>(box.lines.size() + 1) + 2 * kPadding};
  }

  int ComputeWidth(const std::vector<std::size_t>& boxes) const {
    int width = kGap;
    for (const std::size_t i : boxes) width += rects_[i].width + kGap;
    return width;
  }

  static std::string DrawLabel(int x, int y, const std::string& text, std::string_view more = {}) {
    return fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", x, y, more, EscapeXml(text));
  }

  std::string DrawBox(std::size_t i) const {
    const Drawing::Box& box = drawing_.boxes[i];
    const Rect& at = rects_[i];
    std::string text = fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"{}\" "
        "stroke=\"#333333\"/>\n",
        at.x, at.y, at.width, at.height, box.level > 0 ? 12 : 2,
        box.level > 0 ? "#dde7f0" : "#e8f3d6");
    int y = at.y + kPadding + kRow - 4;
    text += DrawLabel(at.x + kPadding, y, box.title, "font-weight=\"bold\"");
    for (const std::string& line : box.lines) text += DrawLabel(at.x + kPadding, y += kRow, line);
    return text;
  }

  // The k-th of n cables at a side of the box.
  static int PlaceAlong(const Rect& rect, int k, int n) {
    return rect.x + rect.width * (k + 1) / (n + 1);
  }

  std::string DrawCable(const Drawing::Line& line) {
    const Rect& from = rects_[line.from];
    const Rect& to = rects_[line.to];
    const bool level = drawing_.boxes[line.from].level == drawing_.boxes[line.to].level;
    const int x1 = PlaceAlong(from, used_[{line.from, false}]++, Count(line.from, false));
    const int x2 = PlaceAlong(to, used_[{line.to, !level}]++, Count(line.to, !level));
    const int y1 = from.y;
    const int y2 = level ? to.y : to.y + to.height;
    const int rise = level ? kLevelGap * 3 / 4 : (y1 - y2) / 2;
    std::string text = fmt::format(
        "<path d=\"M {0} {1} C {0} {2} {3} {4} {3} {5}\" fill=\"none\" stroke=\"#555555\" "
        "stroke-width=\"2\"/>\n",
        x1, y1, y1 - rise, x2, level ? y2 - rise : y2 + rise, y2);
    text += DrawLabel(x1 + 4, y1 - 6, line.from_port + (level ? "" : "  " + line.rate));
    if (level) {
      text += DrawLabel((x1 + x2) / 2 - 30, std::min(y1, y2) - rise * 3 / 4 - 6, line.rate);
      text += DrawLabel(x2 + 4, y2 - 6, line.to_port);
    } else {
      text += DrawLabel(x2 + 4, y2 + 14 + kRow * (used_[{line.to, true}] % 2), line.to_port);
    }
    return text;
  }

  // How many cables end at the top (or the bottom) of a box.
  int Count(std::size_t box, bool bottom) const {
    return static_cast<int>(
        std::count_if(drawing_.lines.begin(), drawing_.lines.end(), [&](const Drawing::Line& line) {
          const bool level = drawing_.boxes[line.from].level == drawing_.boxes[line.to].level;
          return (line.from == box && !bottom) || (line.to == box && bottom == !level);
        }));
  }

  const Drawing& drawing_;
  std::vector<Rect> rects_;
  std::map<std::pair<std::size_t, bool>, int> used_;  // box and whether its bottom → cables drawn
  int width_ = 0;
  int height_ = 0;
};

}  // namespace

std::string DrawFabricSvg(const ClusterSpec& cluster, const Fabric& fabric) {
  const Drawing drawing = BuildDrawing(cluster, fabric);
  return SvgWriter(drawing).Run();
}

}  // namespace reconciler
