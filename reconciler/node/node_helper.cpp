#include "reconciler/node/node_helper.h"

#include "reconciler/node/home_path.sh.h"
#include "reconciler/node/journal.sh.h"
#include "reconciler/node/node_helper.sh.h"

namespace reconciler {

std::string_view GetJournalFunctions() { return kJournalSh; }

std::string NodeHelper() {
  return std::string(kHomePathSh) + std::string(kJournalSh) + std::string(kNodeHelperSh);
}

}  // namespace reconciler
