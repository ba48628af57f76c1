#include "reconciler/fabric/drawing/lanes.h"

#include <algorithm>
#include <cstdlib>

namespace reconciler {
namespace {

constexpr int kClear = 8;  // pixels between the ends of two ways on one lane

bool Overlap(const Way& a, const Way& b) {
  return std::min(a.from, a.to) < std::max(b.from, b.to) + kClear &&
         std::min(b.from, b.to) < std::max(a.from, a.to) + kClear;
}

bool GoesRight(const Way& way) { return way.to >= way.from; }

// The outermost first, which lies above what is further in.
bool IsFurtherOut(const Way& a, const Way& b) {
  if (GoesRight(a) != GoesRight(b)) return GoesRight(a);
  return GoesRight(a) ? a.from < b.from : a.from > b.from;
}

int AssignFan(std::vector<Way*>& ways) {
  std::stable_sort(ways.begin(), ways.end(),
                   [](const Way* a, const Way* b) { return IsFurtherOut(*a, *b); });
  int lanes = 0;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    Way& way = *ways[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (GoesRight(*ways[j]) == GoesRight(way) && Overlap(*ways[j], way)) {
        way.lane = std::max(way.lane, ways[j]->lane + 1);
      }
    }
    const auto is_taken = [&](const Way* other) {
      return other->lane == way.lane && Overlap(*other, way);
    };
    while (std::any_of(ways.begin(), ways.begin() + static_cast<std::ptrdiff_t>(i), is_taken)) {
      ++way.lane;
    }
    lanes = std::max(lanes, way.lane + 1);
  }
  return lanes;
}

// Short loops lie below long ones. Lanes are counted from the lowest here.
int AssignLoops(std::vector<Way*>& loops) {
  std::stable_sort(loops.begin(), loops.end(), [](const Way* a, const Way* b) {
    return std::abs(a->to - a->from) < std::abs(b->to - b->from);
  });
  int lanes = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    Way& way = *loops[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (Overlap(*loops[j], way)) way.lane = std::max(way.lane, loops[j]->lane + 1);
    }
    lanes = std::max(lanes, way.lane + 1);
  }
  return lanes;
}

}  // namespace

int AssignLanes(std::vector<Way>& ways) {
  std::vector<Way*> fans;
  std::vector<Way*> loops;
  for (Way& way : ways) (way.is_loop ? loops : fans).push_back(&way);
  const int above = AssignFan(fans);
  const int lanes = above + AssignLoops(loops);
  for (Way* way : loops) way->lane = lanes - 1 - way->lane;
  return lanes;
}

}  // namespace reconciler
