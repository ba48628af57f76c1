#include "reconciler/verify/pairs/at_fault.h"

#include <algorithm>
#include <map>

namespace reconciler {

std::vector<NodeName> FindNodesAtFault(const std::vector<PairVerdict>& pairs) {
  struct Count {
    int good = 0;
    int bad = 0;
  };
  std::map<NodeName, Count> counts;
  for (const PairVerdict& pair : pairs) {
    if (!pair.measured) continue;
    for (const NodeName& node : {pair.a, pair.b})
      ++(pair.good ? counts[node].good : counts[node].bad);
  }
  std::vector<NodeName> accused;
  for (const auto& [node, count] : counts) {
    // One pair is no majority: its other end may be the one.
    if (count.bad > count.good && count.good + count.bad > 1) accused.push_back(node);
  }
  const auto is_accused = [&](const NodeName& node) {
    return std::find(accused.begin(), accused.end(), node) != accused.end();
  };
  const bool others_are_good =
      std::any_of(pairs.begin(), pairs.end(), [&](const PairVerdict& pair) {
        return pair.good && !is_accused(pair.a) && !is_accused(pair.b);
      });
  return others_are_good ? accused : std::vector<NodeName>{};
}

}  // namespace reconciler
