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

// A node of the manifest that was not read, and may be one; empty: there is none.
NodeName FindUnreadNode(const PluginInput& input, const Volume& volume);

}  // namespace reconciler::plugins::storage
