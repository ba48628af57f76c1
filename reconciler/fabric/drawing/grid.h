#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "reconciler/fabric/drawing/drawing.h"

namespace reconciler {

// The devices of the lowest level in rows and columns.
struct Grid {
  std::vector<std::vector<std::size_t>> rows = {};    // of devices, from top to bottom
  std::map<std::size_t, std::size_t> column_of = {};  // by device
  std::size_t columns = 0;
};

// Those of one switch stand together. Where there is none, every other row goes from right to left:
// the neighbours of a ring stay neighbours.
Grid ArrangeGrid(const Drawing& drawing, std::size_t rows);

// More rows than that make no drawing fit a page better. At least 1.
std::size_t CountMostGridRows(const Drawing& drawing);

}  // namespace reconciler
