#pragma once

#include <string>
#include <variant>

namespace reconciler {

struct Absent {
  bool operator==(const Absent&) const = default;
};
struct Unknown {  // we looked and could not tell; blocks a change and never causes one
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

}  // namespace reconciler
