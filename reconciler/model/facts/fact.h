#pragma once

#include <map>
#include <optional>
#include <string>

#include "reconciler/model/observed.h"

namespace reconciler {

// What is read only where a plugin asks for it. nullopt: nobody asked, which is neither absence nor
// a value.
template <class T>
using Fact = std::optional<Observed<T>>;

// For whoever needs the fact: Unknown when nobody asked for it.
template <class T>
Observed<T> Answer(const Fact<T>& fact) {
  return fact ? *fact : Observed<T>(Unknown{"not asked for"});
}

// nullptr: not known, for whatever reason.
template <class T>
const T* Known(const Fact<T>& fact) {
  return fact ? Known(*fact) : nullptr;
}

// Why somebody asked and could not be told; nullptr: it was told, or nobody asked.
template <class T>
const Unknown* FindUnknown(const Fact<T>& fact) {
  return fact ? std::get_if<Unknown>(&*fact) : nullptr;
}

// Of facts by name. Unknown when nobody asked for this one.
template <class T>
Observed<T> FindOrUnknown(const std::map<std::string, Observed<T>>& map, const std::string& key) {
  const auto found = map.find(key);
  return found != map.end() ? found->second : Observed<T>(Unknown{"not asked for"});
}

}  // namespace reconciler
