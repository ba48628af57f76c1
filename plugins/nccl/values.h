#pragma once

#include <string>
#include <string_view>

#include "plugins/nccl/variables.h"

namespace reconciler::plugins::nccl {

// How a setting does not do what it says.
enum class MistakeKind {
  kMisspelled,     // not a name of NCCL's, and near to one
  kUnknown,        // a name that is not known here; a newer NCCL may read it
  kUnread,         // NCCL does not read the name, or this library does not
  kMisread,        // the value is read as another one
  kReadAsMeant,    // the value is no number and is read as 0, which is what it says: "off"
  kNoEffect,       // read, and nothing changes
  kAgainstFabric,  // turns RDMA off, or is not what the fabric needs
  kOwned,          // another key of the manifest decides it
};

// What is wrong with a setting, without the variable's name, and what to do about it.
struct Mistake {
  MistakeKind kind = MistakeKind::kMisread;
  std::string what = {};  // empty: nothing
  std::string hint = {};

  bool Empty() const { return what.empty(); }
  std::string OneLine() const { return hint.empty() ? what : what + ": " + hint; }
};

// Whether NCCL reads the value as what it looks like.
Mistake JudgeValue(const Rule& rule, std::string_view value);

// Whether both values of that variable are read as one: numbers by their value, words in any case
// where NCCL takes any, and lists in any order.
bool MeanTheSame(const std::string& name, std::string_view a, std::string_view b);

}  // namespace reconciler::plugins::nccl
