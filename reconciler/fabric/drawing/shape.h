#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/fabric/drawing/drawing.h"

namespace reconciler {

// Pixels.
inline constexpr int kGlyph = 8;  // width of a letter, with some room
inline constexpr int kRow = 16;   // of text
inline constexpr int kPadding = 8;
inline constexpr int kTabHeight = 18;

// The end of a cable at the edge of a device.
struct TabShape {
  std::optional<std::size_t> cable = std::nullopt;  // none: a cage without one
  std::string text = {};                            // the port's name
  std::string rate = {};                            // stands above the tab; empty: at the other end
  std::vector<std::string> lines = {};              // below it: addresses
  int x = 0;                                        // from the device's left edge
  int width = 0;

  int Stub() const { return x + kPadding; }  // where its cable begins
};

// A device without its place: the cables to its own and to higher levels end at its top, those to
// lower levels at its bottom.
struct DeviceShape {
  std::vector<TabShape> top = {};
  std::vector<TabShape> bottom = {};
  bool upright = false;   // names of the bottom's tabs
  int bottom_height = 0;  // of the bottom's tabs
  int width = 0;
  int height = 0;
};

// By device of the drawing. Tabs at the bottom are in the order of the drawing's cables;
// SpreadTabs places them again once they are sorted.
std::vector<DeviceShape> MeasureDevices(const Drawing& drawing,
                                        const std::vector<std::string>& rates);
void SpreadTabs(std::vector<TabShape>& tabs, int width);

}  // namespace reconciler
