#pragma once

#include <concepts>
#include <string>

#include "reconciler/model/facts/description.h"

namespace reconciler {

struct SessionFacts {
  std::string address;
  std::string interface;  // empty when none was found
  bool operator==(const SessionFacts&) const = default;
};

template <std::same_as<SessionFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "session", "How a node was reached.",
      Field{"address", &T::address,
            "The node's own address that carried the session; empty for the local transport."},
      Field{"interface", &T::interface, "The interface that holds it; no plugin touches it."});
}

}  // namespace reconciler
