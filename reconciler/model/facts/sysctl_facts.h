#pragma once

#include <concepts>
#include <map>
#include <set>
#include <string>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

struct SysctlFacts {
  std::map<std::string, Observed<std::string>> keys;
  Fact<std::set<std::string>> readonly;
  bool operator==(const SysctlFacts&) const = default;
};

template <std::same_as<SysctlFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "sysctl", "The kernel's settings.",
      Field{"keys", &T::keys,
            "By key, with dots: the live value, with single blanks between numbers; absent: this "
            "kernel has no such key.",
            FieldRule::kLeftOut},
      Field{"readonly", &T::readonly, "Keys that are there and cannot be set, sorted."});
}

}  // namespace reconciler
