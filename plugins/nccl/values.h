#pragma once

#include <string>
#include <string_view>

#include "plugins/nccl/variables.h"

namespace reconciler::plugins::nccl {

// What is wrong with a setting, without the variable's name, and what to do about it.
struct Mistake {
  std::string what = {};  // empty: nothing
  std::string hint = {};

  bool Empty() const { return what.empty(); }
  std::string OneLine() const { return hint.empty() ? what : what + ": " + hint; }
};

// Whether NCCL reads the value as what it looks like.
Mistake JudgeValue(const Rule& rule, std::string_view value);

}  // namespace reconciler::plugins::nccl
