#pragma once

#include <variant>

#include "reconciler/model/facts.h"
#include "reconciler/model/resource.h"

namespace reconciler::plugins {

// A fact as what a resource is compared by.
template <class T>
Observed<ResourceState> AsState(const Observed<T>& observed) {
  if (const T* value = Known(observed)) return ResourceState(*value);
  if (const auto* unknown = std::get_if<Unknown>(&observed)) return *unknown;
  if (const auto* unsupported = std::get_if<Unsupported>(&observed)) return *unsupported;
  return Absent{};
}

}  // namespace reconciler::plugins
