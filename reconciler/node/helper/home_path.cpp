#include "reconciler/node/helper/home_path.h"

#include "reconciler/base/shell_values.h"
#include "reconciler/node/helper/home_files.sh.h"
#include "reconciler/node/helper/home_path.sh.h"

namespace reconciler {

std::string GetHomeFunctions() {
  return AssignForShell({{"HOME_FILES", kHomeFilesSh}}) + std::string(kHomePathSh);
}

}  // namespace reconciler
