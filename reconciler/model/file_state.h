#pragma once

#include <string>

namespace reconciler {

struct FileState {
  std::string content = {};
  unsigned mode = 0644;  // permission bits only
  std::string owner = "root";
  std::string group = "root";
  bool operator==(const FileState&) const = default;
};

}  // namespace reconciler
