#include "reconciler/node/home_path.h"

#include "reconciler/base/shell_values.h"
#include "reconciler/node/home_files.sh.h"
#include "reconciler/node/home_path.sh.h"

namespace reconciler {

std::string GetHomeFunctions() {
  return AssignForShell({{"HOME_FILES", kHomeFilesSh}}) + std::string(kHomePathSh);
}

std::string ReadHomeUser(std::string_view path) {
  const std::size_t slash = path.find('/');
  return std::string(path.substr(1, slash == std::string_view::npos ? slash : slash - 1));
}

}  // namespace reconciler
