#include "reconciler/model/switch_legs.h"

#include "reconciler/base/number.h"

namespace reconciler {

bool IsLeg(std::string_view port, std::string_view cage) {
  if (!port.starts_with(cage)) return false;
  const std::string_view rest = port.substr(cage.size());
  return rest.empty() || rest.front() < '0' || rest.front() > '9';
}

Legs ListLegs(std::string_view breakout) {
  const std::size_t x = breakout.find('x');
  if (x == std::string_view::npos) return {};
  return {.count = ParseNumber<int>(breakout.substr(0, x)).value_or(0),
          .gbps = ParseNumber<int>(breakout.substr(x + 1)).value_or(0)};
}

}  // namespace reconciler
