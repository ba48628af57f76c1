#pragma once

#include <string>

namespace reconciler::cli {

struct GitInfo {
  std::string commit = {};  // empty: in no repository, or git does not say within seconds
  bool dirty = false;       // the file is not as that commit has it
};

// The repository that a file lies in. Never fails: an apply does not wait for what git thinks.
GitInfo ReadGitInfo(const std::string& file);

}  // namespace reconciler::cli
