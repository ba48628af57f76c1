#pragma once

#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// What systemd says about one unit, as it prints it.
struct UnitState {
  std::string load;
  std::string unit_file;
  std::string active;
  std::string result;
  bool stale = false;
  bool oneshot = false;
  std::vector<std::string> triggers = {};
  bool operator==(const UnitState&) const = default;
};

template <std::same_as<UnitState> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "unit_state", "What systemd says about a unit; empty: nothing.",
      Field{"load", &T::load, "loaded, not-found, masked, bad-setting, error."},
      Field{"unit_file", &T::unit_file,
            "enabled, disabled, static, masked …; empty: there is no file."},
      Field{"active", &T::active, "active, reloading, inactive, failed, activating, deactivating."},
      Field{"result", &T::result, "success, exit-code, timeout …"},
      Field{"stale", &T::stale, "Whether its files changed since systemd read them."},
      Field{"oneshot", &T::oneshot,
            "Whether it is inactive once it has run: Type=oneshot without RemainAfterExit=yes.",
            FieldRule::kLeftOut},
      Field{"triggers", &T::triggers,
            "The units that it starts, as a socket its service; with Accept=yes none.",
            FieldRule::kLeftOut});
}

struct UnitFacts {
  Fact<int> shown;
  Fact<std::vector<std::string>> gpu_containers;  // sorted
  std::map<std::string, UnitState> states;
  bool operator==(const UnitFacts&) const = default;
};

template <std::same_as<UnitFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "units", "The units that the manifest names.",
      Field{"shown", &T::shown, "How many units systemctl showed; unknown: it failed."},
      Field{"gpu_containers", &T::gpu_containers,
            "The scopes of the containers that have a GPU; unknown: they could not be listed."},
      Field{"states", &T::states, "By each of its names.", FieldRule::kLeftOut});
}

}  // namespace reconciler
