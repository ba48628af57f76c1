#pragma once

#include <string>
#include <string_view>

#include "plugins/nccl/library.h"
#include "plugins/nccl/values.h"

namespace reconciler::plugins::nccl {

struct LintContext {
  bool several_cables = false;       // some node's cages lead to different neighbours
  bool gid_pinned = false;           // nccl.gid_index
  const Library* library = nullptr;  // nullptr: none is known
  bool on_node = false;              // nullptr above means that the node has none
};

// Why a setting does not do what it says: the name is nobody's, the value is read as another one,
// or nothing changes here.
Complaint JudgeSetting(const std::string& name, std::string_view value, const LintContext& context);

}  // namespace reconciler::plugins::nccl
