#pragma once

#include <optional>
#include <string>

#include "plugins/storage/section.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::storage {

struct Writer {
  NodeName node = {};
  std::string path = {};  // where that node has the file system mounted for writing
};

// Another node than the input's that can write now to a file system which one alone may write to.
std::optional<Writer> FindOtherWriter(const PluginInput& input, const Volume& volume);

struct UnreadNode {
  NodeName node = {};
  std::string why = {};  // what it has mounted is not known; empty: nothing of it was read
};

// A node of the manifest of which it is not known whether it is one.
std::optional<UnreadNode> FindUnreadNode(const PluginInput& input, const Volume& volume);

}  // namespace reconciler::plugins::storage
