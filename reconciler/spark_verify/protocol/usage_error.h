#pragma once

#include <string>
#include <utility>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

inline tl::unexpected<Error> MakeUsageError(std::string message) {
  return Fail({.message = std::move(message), .hint = "spark-verify --help lists the options"});
}

}  // namespace reconciler::spark_verify
