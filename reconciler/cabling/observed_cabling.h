#pragma once

#include <string>
#include <vector>

#include "reconciler/cabling/neighbours.h"

namespace reconciler {

// What all nodes show, by cage, and text for it.
class ObservedCabling {
 public:
  ObservedCabling(const ClusterSpec& cluster, const CablingViews& views);

  bool WasQueried(const NodeName& node) const;
  // An empty view of a cage that no one knows anything about.
  const CageView& At(const CageId& cage) const;
  const CageViews& cages() const { return cages_; }

  // "spark-3's left cage and crs812 (its port 7)"
  std::string DescribeNeighbours(const CageId& cage) const;
  // Why these see no one: "no carrier at spark-1's left cage and spark-2's right cage".
  std::string ExplainNoNeighbour(const std::vector<CageId>& cages) const;

 private:
  const CablingViews& views_;
  CageViews cages_;
};

}  // namespace reconciler
