#include "reconciler/fabric/drawing/layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/fabric/drawing/grid.h"
#include "reconciler/fabric/drawing/lanes.h"
#include "reconciler/fabric/drawing/shape.h"

namespace reconciler {
namespace {

// Pixels.
constexpr int kMargin = 12;
constexpr int kTitle = 36;
constexpr int kBoxGap = 28;      // between the devices of a row
constexpr int kLane = 8;         // between two lanes
constexpr int kRateHeight = 18;  // above a row, for the rates of its cables
constexpr int kApart = 4;        // between two cables that go up or down

// The printable part of A4 in landscape, with margins of 10 mm, at 96 pixels per inch.
constexpr double kPageWidth = 1046;
constexpr double kPageHeight = 716;

// One end of a cable: below the channel of that row, or above it.
struct End {
  std::size_t channel = 0;
  std::size_t device = 0;
  bool at_top = true;  // of its device, so that it comes into the channel from below
};

class Placer {
 public:
  Placer(const Drawing& drawing, const std::vector<std::string>& rates, std::size_t grid_rows)
      : drawing_(drawing),
        shapes_(MeasureDevices(drawing, rates)),
        grid_(ArrangeGrid(drawing, grid_rows)) {}

  Layout Run() {
    ListRows();
    ChooseRisers();
    PlaceGrid();
    for (std::size_t row = grid_start_; row-- > 0;) PlaceUpperRow(row);
    PlaceOuterRisers();
    MoveRight();
    AddWays();
    PlaceRows();
    for (std::size_t i = 0; i < drawing_.cables.size(); ++i) AddRoute(i);
    for (std::size_t i = 0; i < shapes_.size(); ++i) AddBox(i);
    layout_.labels.push_back({.at = {kMargin, 24},
                              .text = MakePrintable(drawing_.title),
                              .style = Layout::Style::kBold});
    layout_.width =
        std::max(layout_.width,
                 2 * kMargin + kGlyph * static_cast<int>(CountColumns(layout_.labels.back().text)));
    return std::move(layout_);
  }

 private:
  // The highest level is the first row; the lowest level is the grid, which may have several.
  void ListRows() {
    std::map<int, std::vector<std::size_t>, std::greater<>> levels;
    for (std::size_t i = 0; i < drawing_.devices.size(); ++i) {
      levels[drawing_.devices[i].level].push_back(i);
    }
    for (const auto& [level, devices] : levels) rows_.push_back(devices);
    if (!rows_.empty()) rows_.pop_back();
    grid_start_ = rows_.size();
    for (const auto& row : grid_.rows) rows_.push_back(row);
    row_of_.resize(drawing_.devices.size());
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const std::size_t device : rows_[row]) row_of_[device] = row;
    }
    left_.resize(drawing_.devices.size());
    layout_.boxes.resize(drawing_.devices.size());
    layout_.routes.resize(drawing_.cables.size());
    risers_.resize(drawing_.cables.size());
    gaps_.resize(grid_.columns + 1);
  }

  End FindEnd(std::size_t cable, bool is_to) const {
    const Drawing::Cable& one = drawing_.cables[cable];
    const std::size_t device = is_to ? one.to : one.from;
    const bool at_top =
        !is_to || drawing_.devices[one.from].level == drawing_.devices[one.to].level;
    return {.channel = row_of_[device] + (at_top ? 0 : 1), .device = device, .at_top = at_top};
  }

  // A cable whose ends lie at different channels goes up in a gap between the columns of the grid,
  // or at the right of everything where it passes rows above the grid.
  void ChooseRisers() {
    for (std::size_t i = 0; i < drawing_.cables.size(); ++i) {
      End low = FindEnd(i, false);
      End high = FindEnd(i, true);
      if (low.channel == high.channel) continue;
      if (low.channel < high.channel) std::swap(low, high);
      if (high.channel < grid_start_) {
        outer_.push_back(i);
        continue;
      }
      const std::size_t near = grid_.column_of.contains(high.device) ? high.device : low.device;
      const std::size_t column = grid_.column_of.at(near);
      gaps_[column < grid_.columns / 2 ? column : column + 1].push_back(i);
    }
  }

  void PlaceGrid() {
    int x = 0;
    for (std::size_t column = 0; column <= grid_.columns; ++column) {
      x += kBoxGap / 2;
      for (const std::size_t cable : gaps_[column]) risers_[cable] = x += kLane;
      x += kBoxGap / 2;
      if (column == grid_.columns) break;
      int width = 0;
      for (const auto& [device, at] : grid_.column_of) {
        if (at != column) continue;
        left_[device] = x;
        width = std::max(width, shapes_[device].width);
      }
      x += width;
    }
    right_ = x;
  }

  const TabShape& FindTab(std::size_t cable, const End& end) const {
    const DeviceShape& shape = shapes_[end.device];
    const auto& tabs = end.at_top ? shape.top : shape.bottom;
    return *std::find_if(tabs.begin(), tabs.end(),
                         [&](const TabShape& tab) { return tab.cable == cable; });
  }

  // Where the cable comes into the channel below the device of its upper end.
  int FindLowerX(std::size_t cable) const {
    if (risers_[cable]) return *risers_[cable];
    const End end = FindEnd(cable, false);
    if (FindEnd(cable, true).channel != end.channel) return right_;
    return left_[end.device] + FindTab(cable, end).Stub();
  }

  // Above the middle of what is cabled to them, from left to right.
  void PlaceUpperRow(std::size_t row) {
    std::map<std::size_t, int> wanted;
    for (const std::size_t device : rows_[row]) {
      DeviceShape& shape = shapes_[device];
      std::stable_sort(shape.bottom.begin(), shape.bottom.end(),
                       [&](const TabShape& a, const TabShape& b) {
                         return FindLowerX(*a.cable) < FindLowerX(*b.cable);
                       });
      SpreadTabs(shape.bottom, shape.width);
      long long sum = 0;
      for (const TabShape& tab : shape.bottom) sum += FindLowerX(*tab.cable);
      const auto count = static_cast<long long>(shape.bottom.size());
      wanted[device] = static_cast<int>(count > 0 ? sum / count : right_ / 2) - shape.width / 2;
    }
    std::vector<std::size_t>& devices = rows_[row];
    std::stable_sort(devices.begin(), devices.end(),
                     [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
    int x = std::min(0, devices.empty() ? 0 : wanted[devices.front()]);
    for (const std::size_t device : devices) {
      left_[device] = std::max(x, wanted[device]);
      x = left_[device] + shapes_[device].width + kBoxGap;
    }
    int end = std::max(right_, x - kBoxGap);
    if (x - kBoxGap > right_)
      end -= (x - kBoxGap - right_) / 2;  // half to the left, half to the right
    for (auto device = devices.rbegin(); device != devices.rend(); ++device) {
      left_[*device] = std::min(left_[*device], end - shapes_[*device].width);
      end = left_[*device] - kBoxGap;
    }
    for (const std::size_t device : devices) SettleBottomTabs(device, row + 1);
  }

  // What goes down at the x at which something else goes up would lie on it.
  void SettleBottomTabs(std::size_t device, std::size_t channel) {
    std::set<int> below;
    for (std::size_t i = 0; i < drawing_.cables.size(); ++i) {
      if (risers_[i]) below.insert(*risers_[i]);
      for (const bool is_to : {false, true}) {
        const End end = FindEnd(i, is_to);
        if (end.channel != channel || !end.at_top) continue;
        below.insert(left_[end.device] + FindTab(i, end).Stub());
      }
    }
    const auto is_free = [&](int x) {
      const auto next = below.lower_bound(x - kApart + 1);
      return next == below.end() || *next >= x + kApart;
    };
    for (TabShape& tab : shapes_[device].bottom) {
      for (const int offset : {0, 4, -4, 8}) {
        if (!is_free(left_[device] + tab.Stub() + offset)) continue;
        stub_offsets_[*tab.cable] = offset;
        break;
      }
    }
  }

  void PlaceOuterRisers() {
    int x = 0;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      x = std::max(x, left_[i] + shapes_[i].width);
    }
    x = std::max(x, right_) + kBoxGap / 2;
    for (const std::size_t cable : outer_) risers_[cable] = x += kLane;
    layout_.width = x + kMargin;
  }

  // Until nothing is left of the margin.
  void MoveRight() {
    int least = right_;
    for (const int left : left_) least = std::min(least, left);
    for (const auto& riser : risers_) least = std::min(least, riser.value_or(least));
    const int by = kMargin - least;
    for (int& left : left_) left += by;
    for (auto& riser : risers_) {
      if (riser) *riser += by;
    }
    layout_.width += by;
  }

  int FindX(std::size_t cable, const End& end) const {
    const auto offset = stub_offsets_.find(cable);
    return left_[end.device] + FindTab(cable, end).Stub() +
           (end.at_top || offset == stub_offsets_.end() ? 0 : offset->second);
  }

  void AddWays() {
    ways_.resize(rows_.size() + 1);
    for (std::size_t i = 0; i < drawing_.cables.size(); ++i) {
      End low = FindEnd(i, false);
      End high = FindEnd(i, true);
      if (low.channel < high.channel) std::swap(low, high);
      if (low.channel == high.channel) {
        ways_[low.channel].push_back(
            {.cable = i, .from = FindX(i, low), .to = FindX(i, high), .is_loop = high.at_top});
        continue;
      }
      ways_[low.channel].push_back({.cable = i, .from = FindX(i, low), .to = *risers_[i]});
      ways_[high.channel].push_back(
          {.cable = i, .from = *risers_[i], .to = FindX(i, high), .is_loop = high.at_top});
    }
  }

  // From top to bottom: each row below the channel with the cables that end at its top.
  void PlaceRows() {
    int y = kTitle;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const int lanes = AssignLanes(ways_[row]);
      channel_tops_.push_back(y);
      if (lanes > 0) y += kLane * (lanes + 1) + kRateHeight;
      int tallest = 0;
      for (const std::size_t device : rows_[row]) {
        const DeviceShape& shape = shapes_[device];
        layout_.boxes[device].area = {left_[device], y, shape.width, shape.height};
        tallest = std::max(tallest, shape.height);
      }
      y += tallest + kLane;
    }
    layout_.height = y + kMargin;
  }

  int FindLaneY(std::size_t channel, std::size_t cable) const {
    const auto way = std::find_if(ways_[channel].begin(), ways_[channel].end(),
                                  [&](const Way& one) { return one.cable == cable; });
    return channel_tops_[channel] + kLane * (way->lane + 1);
  }

  Layout::Spot FindSpot(std::size_t cable, const End& end) const {
    const Layout::Area& area = layout_.boxes[end.device].area;
    return {FindX(cable, end), end.at_top ? area.y : area.y + area.height};
  }

  void AddRoute(std::size_t cable) {
    End low = FindEnd(cable, false);
    End high = FindEnd(cable, true);
    if (low.channel < high.channel) std::swap(low, high);
    std::vector<Layout::Spot>& route = layout_.routes[cable];
    const Layout::Spot begin = FindSpot(cable, low);
    const Layout::Spot end = FindSpot(cable, high);
    route.push_back(begin);
    const int lane = FindLaneY(low.channel, cable);
    route.push_back({begin.x, lane});
    if (low.channel != high.channel) {
      const int upper = FindLaneY(high.channel, cable);
      route.push_back({*risers_[cable], lane});
      route.push_back({*risers_[cable], upper});
      route.push_back({end.x, upper});
    } else {
      route.push_back({end.x, lane});
    }
    route.push_back(end);
  }

  void AddTopTab(const Layout::Area& area, const TabShape& tab, Layout::Box& box) {
    if (tab.cable) box.tabs.push_back({area.x + tab.x, area.y, tab.width, kTabHeight});
    const int x = area.x + tab.x + kPadding;
    if (!tab.rate.empty()) AddLabel({x + kPadding, area.y - 5}, tab.rate);
    AddLabel({x, area.y + kTabHeight - 5}, tab.text);
    int y = area.y + kTabHeight;
    for (const std::string& line : tab.lines) {
      AddLabel({x, y += kRow}, line,
               line.starts_with(' ') ? Layout::Style::kSoft : Layout::Style::kPlain);
    }
  }

  void AddBottomTab(const Layout::Area& area, const TabShape& tab, const DeviceShape& shape,
                    Layout::Box& box) {
    const int top = area.y + area.height - shape.bottom_height;
    box.tabs.push_back({area.x + tab.x, top, tab.width, shape.bottom_height});
    const int x = area.x + tab.x;
    if (shape.upright) {
      layout_.labels.push_back({.at = {x + 2 * kGlyph, area.y + area.height - kPadding / 2},
                                .text = tab.text,
                                .upright = true});
    } else {
      AddLabel({x + kPadding / 2, top + kTabHeight - 5}, tab.text);
    }
  }

  void AddBox(std::size_t device) {
    const DeviceShape& shape = shapes_[device];
    Layout::Box& box = layout_.boxes[device];
    for (const TabShape& tab : shape.top) AddTopTab(box.area, tab, box);
    for (const TabShape& tab : shape.bottom) AddBottomTab(box.area, tab, shape, box);
    int y = box.area.y + box.area.height - kPadding;
    if (!shape.bottom.empty()) y -= shape.bottom_height + kPadding / 2;
    const std::string model = MakePrintable(drawing_.devices[device].model);
    if (!model.empty()) AddLabel({box.area.x + kPadding, y}, model, Layout::Style::kSoft);
    if (!model.empty()) y -= kRow;
    AddLabel({box.area.x + kPadding, y}, MakePrintable(drawing_.devices[device].name),
             Layout::Style::kBold);
  }

  void AddLabel(Layout::Spot at, const std::string& text,
                Layout::Style style = Layout::Style::kPlain) {
    const std::size_t blanks = text.find_first_not_of(' ');  // SVG drops them
    if (blanks == std::string::npos) return;
    layout_.labels.push_back({.at = {at.x + kGlyph * static_cast<int>(blanks), at.y},
                              .text = text.substr(blanks),
                              .style = style});
  }

  const Drawing& drawing_;
  std::vector<DeviceShape> shapes_;
  Grid grid_;
  Layout layout_ = {};
  std::vector<std::vector<std::size_t>> rows_ = {};  // of devices, from top to bottom
  std::size_t grid_start_ = 0;                       // the first row of the grid
  std::vector<std::size_t> row_of_ = {};             // by device
  std::vector<int> left_ = {};                       // by device: its x
  int right_ = 0;                                    // of the grid
  std::vector<std::vector<std::size_t>> gaps_ =
      {};                                         // by gap between columns: cables that rise there
  std::vector<std::size_t> outer_ = {};           // cables that rise at the right of everything
  std::vector<std::optional<int>> risers_ = {};   // by cable: the x at which it rises
  std::map<std::size_t, int> stub_offsets_ = {};  // by cable: of its upper end
  std::vector<std::vector<Way>> ways_ = {};       // by channel, which lies above its row
  std::vector<int> channel_tops_ = {};
};

}  // namespace

double ComputePageScale(int width, int height) {
  return std::min({1.0, kPageWidth / width, kPageHeight / height});
}

Layout PlaceDrawing(const Drawing& drawing, const std::vector<std::string>& rates) {
  std::optional<Layout> best;
  double scale = 0;
  for (std::size_t rows = 1; rows <= CountMostGridRows(drawing); ++rows) {
    Layout layout = Placer(drawing, rates, rows).Run();
    const double own = ComputePageScale(layout.width, layout.height);
    if (best && own <= scale) continue;
    best = std::move(layout);
    scale = own;
  }
  return std::move(*best);
}

}  // namespace reconciler
