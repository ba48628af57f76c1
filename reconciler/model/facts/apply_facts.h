#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// Of our own: the applies that a node has not ended. One is running, or was cut off and will be
// ended by the node's guard or by the next apply.
struct ApplyFacts {
  std::vector<std::string> undecided = {};
  Fact<std::string> lease = {};
  bool operator==(const ApplyFacts&) const = default;
};

constexpr auto Describe(const ApplyFacts*) {
  return MakeDescription(
      "apply", "An apply that the node has not ended.",
      Field{"undecided", &ApplyFacts::undecided, "The ids of the journals without an end."},
      Field{"lease", &ApplyFacts::lease, "Who holds the node's lock."});
}

}  // namespace reconciler
