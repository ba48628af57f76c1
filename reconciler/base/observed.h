#pragma once

#include <string>
#include <variant>

namespace reconciler {

struct Absent {
  bool operator==(const Absent&) const = default;
};
struct Unknown {  // we looked and could not determine; blocks a change and never causes one
  std::string why;
  bool operator==(const Unknown&) const = default;
};
struct Unsupported {  // this machine cannot have it
  std::string why;
  bool operator==(const Unsupported&) const = default;
};

template <class T>
using Observed = std::variant<T, Absent, Unknown, Unsupported>;

template <class T>
const T* Known(const Observed<T>& observed) {
  return std::get_if<T>(&observed);
}

// `function` of what is known, which may find that it cannot determine either. What is not known
// stays so, with its reason.
template <class T, class Function>
auto AndThen(const Observed<T>& observed, Function function)
    -> decltype(function(std::get<T>(observed))) {
  if (const auto* unknown = std::get_if<Unknown>(&observed)) return *unknown;
  if (const auto* unsupported = std::get_if<Unsupported>(&observed)) return *unsupported;
  if (std::holds_alternative<Absent>(observed)) return Absent{};
  return function(std::get<T>(observed));
}

}  // namespace reconciler
