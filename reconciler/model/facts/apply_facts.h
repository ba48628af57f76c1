#pragma once

#include <concepts>
#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// Of our own: the applies that a node has not ended. One is running, or was cut off and will be
// ended by the node's guard or by the next apply.
struct ApplyFacts {
  std::vector<std::string> undecided;
  Fact<std::string> lease;
  bool operator==(const ApplyFacts&) const = default;
};

template <std::same_as<ApplyFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "apply", "An apply that the node has not ended.",
      Field{"undecided", &T::undecided, "The ids of the journals without an end."},
      Field{"lease", &T::lease, "Who holds the node's lock."});
}

}  // namespace reconciler
