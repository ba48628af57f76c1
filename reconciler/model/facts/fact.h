#pragma once

#include <map>
#include <optional>
#include <string>

#include "reconciler/base/observed.h"

namespace reconciler {

// What is read only where a plugin requires it. nullopt: no plugin requested it, which is neither
// absence nor a value.
template <class T>
using Fact = std::optional<Observed<T>>;

// For whoever needs the fact: Unknown when nothing requires it.
template <class T>
Observed<T> Answer(const Fact<T>& fact) {
  return fact ? *fact : Observed<T>(Unknown{"not read"});
}

// nullptr: not known, for whatever reason.
template <class T>
const T* Known(const Fact<T>& fact) {
  return fact ? Known(*fact) : nullptr;
}

// Why a requested fact is unknown; nullptr: it was read, or not requested.
template <class T>
const Unknown* FindUnknown(const Fact<T>& fact) {
  return fact ? std::get_if<Unknown>(&*fact) : nullptr;
}

// Of facts by name. Unknown when nothing requires this one.
template <class T>
Observed<T> FindOrUnknown(const std::map<std::string, Observed<T>>& map, const std::string& key) {
  const auto found = map.find(key);
  return found != map.end() ? found->second : Observed<T>(Unknown{"not read"});
}

}  // namespace reconciler
