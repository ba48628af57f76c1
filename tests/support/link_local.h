#pragma once

#include "reconciler/model/value.h"

namespace reconciler::test {

// A manifest of which no more is needed than `fabric: {link_local: true}`.
inline Value LinkLocalSettings(Position position = {}) {
  Value flag;
  flag.data = true;
  flag.position = position;
  Value fabric;
  fabric.data = std::vector<Member>{Member{.key = "link_local", .value = flag}};
  Value settings;
  settings.data = std::vector<Member>{Member{.key = "fabric", .value = fabric}};
  return settings;
}

}  // namespace reconciler::test
