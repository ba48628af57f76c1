#include "reconciler/node/node_helper.h"

#include "reconciler/node/generated.sh.h"
#include "reconciler/node/home_path.h"
#include "reconciler/node/journal.sh.h"
#include "reconciler/node/node_helper.sh.h"
#include "reconciler/node/outside.sh.h"

namespace reconciler {

std::string GetJournalFunctions() {
  return std::string(kJournalSh) + std::string(kGeneratedSh) + std::string(kOutsideSh);
}

std::string BuildNodeHelper() {
  return GetHomeFunctions() + GetJournalFunctions() + std::string(kNodeHelperSh);
}

}  // namespace reconciler
