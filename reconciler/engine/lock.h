#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reconciler/engine/node_pool.h"

namespace reconciler {

// One controller at a time per node. The lock is a flock held by a shell on the node that lives as
// long as our connection, so it dies with us; beside it lies a lease that says who, from where and
// since when, for whoever is refused.
class Locks {
 public:
  // Takes the first node alone, so that of two controllers one wins whole, then the others at the
  // same time. Nodes that cannot be reached are left out: they are nobody's to change. A lock held
  // by another is a kLocked error with that one's lease; everything taken is given back.
  static Result<Locks> Take(const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                            const std::string& who);

 private:
  std::vector<std::unique_ptr<Channel>> held_ = {};  // closing one gives its lock back
};

std::string WhoAmI();     // "ada@workstation pid 4711"
std::string TimeNow();    // UTC, RFC 3339: "2026-05-01T10:00:00Z"
std::string LeaseText();  // "ada@workstation pid 4711 since 2026-05-01T10:00:00Z"

}  // namespace reconciler
