#include "reconciler/access/revoke_sudo.h"

namespace reconciler {

std::vector<SudoersResult> RevokeSudoOnAll(const std::vector<const NodeSpec*>& nodes,
                                           const Dial& dial) {
  std::vector<SudoersResult> results;
  for (const NodeSpec* node : nodes) {
    const auto transport = dial(*node);
    results.push_back(
        {node->name, transport ? RevokeSudo(*node, **transport) : Fail(transport.error())});
  }
  return results;
}

}  // namespace reconciler
