#pragma once

#include <string_view>

namespace reconciler {

// "qsfp56-dd-1-5" and "swp1s0" are legs of "qsfp56-dd-1" and "swp1"; "swp10" is none of "swp1".
bool IsLeg(std::string_view port, std::string_view cage);

// "2x200": two legs of 200 Gb/s. 0 where the text says no number.
struct Legs {
  int count = 0;
  int gbps = 0;
};
Legs ListLegs(std::string_view breakout);

}  // namespace reconciler
