#include "reconciler/model/switch_legs.h"

#include <charconv>

namespace reconciler {

bool IsLeg(std::string_view port, std::string_view cage) {
  if (!port.starts_with(cage)) return false;
  const std::string_view rest = port.substr(cage.size());
  return rest.empty() || rest.front() < '0' || rest.front() > '9';
}

Legs ListLegs(std::string_view breakout) {
  const std::size_t x = breakout.find('x');
  Legs legs;
  if (x == std::string_view::npos) return legs;
  std::from_chars(breakout.data(), breakout.data() + x, legs.count);
  std::from_chars(breakout.data() + x + 1, breakout.data() + breakout.size(), legs.gbps);
  return legs;
}

}  // namespace reconciler
