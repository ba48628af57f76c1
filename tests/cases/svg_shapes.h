#pragma once

#include <string>
#include <utility>
#include <vector>

// What a drawing's SVG shows, read from its text and not from what made it.
namespace reconciler::test {

struct SvgBox {
  std::string text = {};  // of a label
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

bool Overlap(const SvgBox& a, const SvgBox& b);
bool IsWithin(const SvgBox& inner, const SvgBox& outer);

struct SvgShapes {
  double width = 0;   // as it is shown, in pixels
  double height = 0;  // likewise
  SvgBox canvas = {};
  std::vector<SvgBox> labels = {};
  std::vector<SvgBox> nodes = {};
  std::vector<std::vector<SvgBox>> cables = {};  // of each its straight parts, as wide as drawn
};

SvgShapes ReadSvg(const std::string& svg);

}  // namespace reconciler::test
