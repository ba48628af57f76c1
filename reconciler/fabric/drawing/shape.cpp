#include "reconciler/fabric/drawing/shape.h"

#include <algorithm>
#include <set>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// Interfaces of more nodes than that would make the text too small to read.
constexpr std::size_t kMostNodesWithNetdevs = 8;
constexpr int kTabGap = 8;
constexpr int kWidestBottom = 480;  // beyond it the names of ports stand upright

int MeasureText(const std::string& text) { return kGlyph * static_cast<int>(CountColumns(text)); }

std::vector<std::string> ListAddresses(const Drawing::Device& device, const std::string& cage,
                                       bool with_netdevs) {
  std::vector<std::string> lines;
  for (const Drawing::Port& port : device.ports) {
    if (port.cage != cage) continue;
    lines.push_back(FormatRailName(port.rail) + " " + port.address);
    if (with_netdevs) lines.push_back("  " + port.netdev);
  }
  return lines;
}

int MeasureTopTab(const TabShape& tab) {
  int width = std::max(MeasureText(tab.text), kPadding + MeasureText(tab.rate));
  for (const std::string& line : tab.lines) width = std::max(width, MeasureText(line));
  return width + 2 * kPadding;
}

int SumWidths(const std::vector<TabShape>& tabs) {
  int width = 0;
  for (const TabShape& tab : tabs) width += tab.width + kTabGap;
  return width;
}

// The cages of a node, from left to right, with the addresses on them.
void AddLines(const Drawing::Device& device, DeviceShape& shape, bool with_netdevs) {
  std::set<std::string> listed;
  for (TabShape& tab : shape.top) {
    if (listed.insert(tab.text).second) tab.lines = ListAddresses(device, tab.text, with_netdevs);
  }
  for (const Drawing::Port& port : device.ports) {
    if (!listed.insert(port.cage).second) continue;
    shape.top.push_back(
        {.text = port.cage, .lines = ListAddresses(device, port.cage, with_netdevs)});
  }
  if (device.is_switch) return;
  std::stable_sort(shape.top.begin(), shape.top.end(),
                   [](const TabShape& a, const TabShape& b) { return a.text < b.text; });
}

void MeasureBottom(DeviceShape& shape) {
  if (shape.bottom.empty()) return;
  int longest = 0;
  for (TabShape& tab : shape.bottom) {
    longest = std::max(longest, MeasureText(tab.text));
    tab.width = std::max(3 * kGlyph, MeasureText(tab.text) + kPadding);
  }
  shape.bottom_height = kTabHeight;
  if (SumWidths(shape.bottom) <= kWidestBottom || longest == 0) return;
  shape.upright = true;
  shape.bottom_height = longest + kPadding;
  for (TabShape& tab : shape.bottom) tab.width = 3 * kGlyph;
}

void MeasureDevice(const Drawing::Device& device, DeviceShape& shape) {
  std::size_t rows = 0;
  for (TabShape& tab : shape.top) {
    tab.width = MeasureTopTab(tab);
    rows = std::max(rows, tab.lines.size());
  }
  MeasureBottom(shape);
  const int names = std::max(MeasureText(device.name), MeasureText(device.model));
  shape.width = std::max(
      {names + 2 * kPadding, SumWidths(shape.top) + kTabGap, SumWidths(shape.bottom) + kTabGap});
  rows += device.model.empty() ? 1 : 2;
  shape.height = (shape.top.empty() ? 0 : kTabHeight) + static_cast<int>(rows) * kRow + kPadding +
                 (shape.bottom.empty() ? 0 : shape.bottom_height + kPadding / 2);
  SpreadTabs(shape.top, shape.width);
  SpreadTabs(shape.bottom, shape.width);
}

}  // namespace

void SpreadTabs(std::vector<TabShape>& tabs, int width) {
  int x = (width - SumWidths(tabs) + kTabGap) / 2;
  for (TabShape& tab : tabs) {
    tab.x = x;
    x += tab.width + kTabGap;
  }
}

std::vector<DeviceShape> MeasureDevices(const Drawing& drawing,
                                        const std::vector<std::string>& rates) {
  std::vector<DeviceShape> shapes(drawing.devices.size());
  for (std::size_t i = 0; i < drawing.cables.size(); ++i) {
    const Drawing::Cable& cable = drawing.cables[i];
    shapes[cable.from].top.push_back(
        {.cable = i, .text = MakePrintable(cable.from_port), .rate = rates[i]});
    const bool is_level = drawing.devices[cable.from].level == drawing.devices[cable.to].level;
    DeviceShape& to = shapes[cable.to];
    (is_level ? to.top : to.bottom).push_back({.cable = i, .text = MakePrintable(cable.to_port)});
  }
  const auto nodes = std::count_if(drawing.devices.begin(), drawing.devices.end(),
                                   [](const Drawing::Device& one) { return !one.is_switch; });
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    AddLines(drawing.devices[i], shapes[i],
             static_cast<std::size_t>(nodes) <= kMostNodesWithNetdevs);
    MeasureDevice(drawing.devices[i], shapes[i]);
  }
  return shapes;
}

}  // namespace reconciler
