#pragma once

#include <cstddef>
#include <vector>

namespace reconciler {

// The way of a cable through the channel above a row of devices: from one x to another, on a lane
// of its own. Both ends of a loop are below the channel; the other ways go up at `to`.
struct Way {
  std::size_t cable = 0;
  int from = 0;
  int to = 0;
  bool is_loop = false;
  int lane = 0;  // 0: the highest
};

// Gives each way a lane, so that no two lie on each other, and fans of ways do not cross. Returns
// the number of lanes.
int AssignLanes(std::vector<Way>& ways);

}  // namespace reconciler
