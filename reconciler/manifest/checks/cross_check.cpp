#include "reconciler/manifest/checks/cross_check.h"

namespace reconciler {

void CrossCheck(const Value& document, Problems& problems) {
  CheckNodes(document, problems);
  CheckCabling(document, problems);
  CheckHardware(document, problems);
  CheckSwitches(document, problems);
  CheckSubnets(document, problems);
  CheckVerify(document, problems);
}

}  // namespace reconciler
