#pragma once

#include <map>
#include <string>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// What systemd says about one unit, as it prints it.
struct UnitState {
  std::string load = {};
  std::string unit_file = {};
  std::string active = {};
  std::string result = {};
  bool stale = false;
  bool operator==(const UnitState&) const = default;
};

constexpr auto Describe(const UnitState*) {
  return MakeDescription(
      "unit_state", "What systemd says about a unit; empty: nothing.",
      Field{"load", &UnitState::load, "loaded, not-found, masked, bad-setting, error."},
      Field{"unit_file", &UnitState::unit_file,
            "enabled, disabled, static, masked …; empty: there is no file."},
      Field{"active", &UnitState::active,
            "active, reloading, inactive, failed, activating, deactivating."},
      Field{"result", &UnitState::result, "success, exit-code, timeout …"},
      Field{"stale", &UnitState::stale, "Whether its files changed since systemd read them."});
}

struct UnitFacts {
  Fact<int> shown = {};
  std::map<std::string, UnitState> states = {};
  bool operator==(const UnitFacts&) const = default;
};

constexpr auto Describe(const UnitFacts*) {
  return MakeDescription(
      "units", "The units that the manifest names.",
      Field{"shown", &UnitFacts::shown, "How many units systemctl showed; unknown: it failed."},
      Field{"states", &UnitFacts::states, "By each of its names.", FieldRule::kLeftOut});
}

}  // namespace reconciler
