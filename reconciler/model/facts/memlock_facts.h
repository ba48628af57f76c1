#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// Of memory, in bytes. What does not fit counts as unlimited.
struct MemoryLimit {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = 0;
  bool IsUnlimited() const { return bytes == kUnlimited; }
  auto operator<=>(const MemoryLimit&) const = default;
};

// For people: in KiB as `ulimit -l` has it, in bytes where it is no whole number of them.
std::string FormatLimit(const MemoryLimit& limit);

struct MemlockLimits {
  MemoryLimit soft;
  MemoryLimit hard;
  bool operator==(const MemlockLimits&) const = default;
};

template <std::same_as<MemlockLimits> T>
constexpr auto Describe(const T*) {
  return MakeDescription("memlock_limits", "The limits of locked memory.",
                         Field{"soft", &T::soft, "What a process gets."},
                         Field{"hard", &T::hard, "What a process may raise it to."});
}

struct MemlockFacts {
  Fact<MemlockLimits> service;
  Fact<MemoryLimit> session;
  Fact<MemlockLimits> user_service;
  bool operator==(const MemlockFacts&) const = default;
};

template <std::same_as<MemlockFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "memlock", "How much memory processes may lock.",
      Field{"service", &T::service, "What the system manager sets for services."},
      Field{"session", &T::session, "The soft limit of the controller's login as its user."},
      Field{"user_service", &T::user_service,
            "What the user's own manager sets for services; absent: none runs."});
}

}  // namespace reconciler
