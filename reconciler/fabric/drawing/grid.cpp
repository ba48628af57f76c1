#include "reconciler/fabric/drawing/grid.h"

#include <algorithm>
#include <optional>

namespace reconciler {
namespace {

int FindLowestLevel(const Drawing& drawing) {
  int lowest = drawing.devices.empty() ? 0 : drawing.devices.front().level;
  for (const Drawing::Device& device : drawing.devices) lowest = std::min(lowest, device.level);
  return lowest;
}

// By the device above them, in the order of the drawing; those without one stand together too.
std::map<std::optional<std::size_t>, std::vector<std::size_t>> ListGroups(const Drawing& drawing) {
  const int lowest = FindLowestLevel(drawing);
  std::map<std::size_t, std::size_t> above;
  for (const Drawing::Cable& cable : drawing.cables) {
    if (drawing.devices[cable.to].level > lowest) above.emplace(cable.from, cable.to);
  }
  std::map<std::optional<std::size_t>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < drawing.devices.size(); ++i) {
    if (drawing.devices[i].level != lowest) continue;
    const auto found = above.find(i);
    groups[found == above.end() ? std::nullopt : std::optional(found->second)].push_back(i);
  }
  return groups;
}

}  // namespace

Grid ArrangeGrid(const Drawing& drawing, std::size_t rows) {
  Grid grid;
  grid.rows.resize(rows);
  for (const auto& [above, devices] : ListGroups(drawing)) {
    const std::size_t columns = (devices.size() + rows - 1) / rows;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t row = i / columns;
      const bool is_turned = !above && row % 2 == 1;
      const std::size_t column = is_turned ? columns - 1 - i % columns : i % columns;
      grid.rows[row].push_back(devices[i]);
      grid.column_of[devices[i]] = grid.columns + column;
    }
    grid.columns += columns;
  }
  std::erase_if(grid.rows, [](const auto& row) { return row.empty(); });
  return grid;
}

std::size_t CountMostGridRows(const Drawing& drawing) {
  constexpr std::size_t kMost = 16;
  std::size_t largest = 1;
  for (const auto& [above, devices] : ListGroups(drawing)) {
    largest = std::max(largest, devices.size());
  }
  return std::min(largest, kMost);
}

}  // namespace reconciler
