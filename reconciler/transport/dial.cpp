#include "reconciler/transport/dial.h"

#include "reconciler/transport/local_transport.h"
#include "reconciler/transport/ssh_transport.h"

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
