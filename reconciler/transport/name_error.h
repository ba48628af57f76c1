#pragma once

#include <optional>
#include <string>

namespace reconciler {

// Why a name has no address, and what to do.
struct NameError {
  std::string what = {};
  std::string hint = {};
};

// `code`: of getaddrinfo; nothing: it did not return within the limit.
NameError ExplainNameError(std::optional<int> code, int limit_s);

}  // namespace reconciler
