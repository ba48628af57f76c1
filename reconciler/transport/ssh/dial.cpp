#include "reconciler/transport/ssh/dial.h"

#include "reconciler/transport/local_transport.h"
#include "reconciler/transport/ssh/transport.h"

namespace reconciler {

Result<std::unique_ptr<Transport>> DialNode(const NodeSpec& node) {
  switch (node.access.transport) {
    case TransportKind::kLocal:
      return DialLocal(node);
    case TransportKind::kSsh:
      break;
  }
  return DialSsh(node);
}

}  // namespace reconciler
