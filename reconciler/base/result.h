#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "reconciler/base/error.h"

namespace reconciler {

// For everything that can happen with correct code; asserts are for our own bugs.
template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace reconciler
