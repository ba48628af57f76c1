#include "reconciler/cabling/observed_cabling.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostNamed = 3;  // of those found at one cage

std::string DescribeNoNeighbour(const CageView& cage) {
  switch (cage.state) {
    case PortState::kMissing:
      return "no interface";
    case PortState::kDown:
      return "ports that are down";
    case PortState::kNoCarrier:
      return "no carrier";
    case PortState::kLink:
      return cage.can_be_heard ? "a link without an answer" : "a link without IPv6";
  }
  return {};
}

}  // namespace

ObservedCabling::ObservedCabling(const ClusterSpec& cluster, const CablingViews& views)
    : views_(views), cages_(BuildCageViews(cluster, views)) {}

bool ObservedCabling::WasQueried(const NodeName& node) const {
  const auto view = views_.find(node);
  return view != views_.end() && !view->second.failure;
}

const CageView& ObservedCabling::At(const CageId& cage) const {
  static const CageView kNothing;
  const auto found = cages_.find(cage);
  return found == cages_.end() ? kNothing : found->second;
}

std::string ObservedCabling::DescribeNeighbours(const CageId& cage) const {
  const Neighbours& neighbours = At(cage).neighbours;
  std::vector<std::string> who;
  for (const CageId& other : neighbours.cages) who.push_back(DescribeCage(other));
  // Beside a cage of ours, a stranger is a switch's own address or a container's.
  if (who.empty()) who.assign(neighbours.strangers.begin(), neighbours.strangers.end());
  if (who.size() > kMostNamed) {
    who = {who[0], who[1], FormatPlural(who.size() - 2, "other", "others")};
  }
  return Join(who, " and ");
}

std::string ObservedCabling::ExplainNoNeighbour(const std::vector<CageId>& cages) const {
  std::vector<std::string> reasons;
  std::vector<std::string> unqueried;
  std::map<std::string, std::vector<std::string>> places;  // by reason
  for (const CageId& cage : cages) {
    if (!WasQueried(cage.node)) {
      unqueried.push_back(
          cage.node + (views_.contains(cage.node) ? " could not be queried" : " was not queried"));
      continue;
    }
    const std::string reason = DescribeNoNeighbour(At(cage));
    if (!places.contains(reason)) reasons.push_back(reason);
    places[reason].push_back(DescribeCage(cage));
  }
  for (std::string& reason : reasons) reason += " at " + Join(places[reason], " and ");
  reasons.insert(reasons.end(), unqueried.begin(), unqueried.end());
  return Join(reasons, ", ");
}

}  // namespace reconciler
