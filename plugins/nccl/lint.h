#pragma once

#include <string>
#include <string_view>

#include "plugins/nccl/library.h"
#include "plugins/nccl/values.h"
#include "reconciler/model/environment.h"

namespace reconciler::plugins::nccl {

struct LintContext {
  bool two_cages = false;                // some node uses two of its cages for NCCL
  bool sparks = true;                    // every node is a DGX Spark, of which some rules are true
  bool gid_pinned = false;               // nccl.gid_index
  std::string gathers = {};              // measured, and no tree can do it: "all_gather"
  Environment needed = {};               // what the fabric cannot do without
  const NcclLibrary* library = nullptr;  // nullptr: none is known
  bool on_node = false;                  // nullptr above means that the node has none
};

// What is wrong with NCCL_IB_GID_INDEX, wherever it is set.
inline constexpr const char* kOneGidIndex =
    "one index for all HCAs, and each HCA's own moves: NCCL finds it automatically";

// Why a setting does not do what it says: the name is no one's, the value is read as another one,
// or nothing changes here.
Mistake JudgeSetting(const std::string& name, std::string_view value, const LintContext& context);

}  // namespace reconciler::plugins::nccl
