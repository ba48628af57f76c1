#pragma once

#include <string>
#include <vector>

#include "reconciler/fabric/drawing/drawing.h"

namespace reconciler {

// Where everything of a drawing is, in pixels; text is monospace of 12 px.
struct Layout {
  struct Spot {
    int x = 0;
    int y = 0;
  };
  struct Area {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
  };
  enum class Style { kPlain, kBold, kSoft };
  struct Label {
    Spot at = {};  // where its base line begins
    std::string text = {};
    Style style = Style::kPlain;
    bool upright = false;  // reads from bottom to top
  };
  // A device, with a tab at its edge for each cable.
  struct Box {
    Area area = {};
    std::vector<Area> tabs = {};
  };

  int width = 0;
  int height = 0;
  std::vector<Box> boxes = {};                 // by device
  std::vector<std::vector<Spot>> routes = {};  // by cable: its corners
  std::vector<Label> labels = {};
};

// No two labels overlap, and no cable goes through one. The nodes stand in as many rows as make the
// whole the largest on a page. `rates`: of the cables, by index.
Layout PlaceDrawing(const Drawing& drawing, const std::vector<std::string>& rates);

// By how much a layout is scaled to fit a page of A4 in landscape; at most 1.
double ComputePageScale(int width, int height);

}  // namespace reconciler
