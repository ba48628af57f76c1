#include "reconciler/node/helper/node_helper.h"

#include "reconciler/node/helper/generated.sh.h"
#include "reconciler/node/helper/home_path.h"
#include "reconciler/node/helper/journal.sh.h"
#include "reconciler/node/helper/node_helper.sh.h"
#include "reconciler/node/helper/outside.sh.h"

namespace reconciler {

std::string GetJournalFunctions() {
  return std::string(kJournalSh) + std::string(kGeneratedSh) + std::string(kOutsideSh);
}

std::string BuildNodeHelper() {
  return GetHomeFunctions() + GetJournalFunctions() + std::string(kNodeHelperSh);
}

}  // namespace reconciler
