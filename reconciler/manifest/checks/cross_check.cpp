#include "reconciler/manifest/checks/cross_check.h"

namespace reconciler {

void CrossCheck(const Value& document, ManifestErrors& errors) {
  CheckNodes(document, errors);
  CheckCabling(document, errors);
  CheckHardware(document, errors);
  CheckSwitches(document, errors);
  CheckSubnets(document, errors);
  CheckMoved(document, errors);
  CheckVerify(document, errors);
}

}  // namespace reconciler
