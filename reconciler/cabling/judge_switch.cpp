#include "reconciler/cabling/judge_switch.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/cabling/plug.h"

namespace reconciler {
namespace {

using Group = std::set<CageId>;

void Absorb(Group found, std::vector<Group>& groups) {
  std::erase_if(groups, [&](const Group& group) {
    const bool touches = std::any_of(group.begin(), group.end(),
                                     [&](const CageId& cage) { return found.contains(cage); });
    if (touches) found.insert(group.begin(), group.end());
    return touches;
  });
  groups.push_back(std::move(found));
}

// Cages on one network: they hear each other, or stand before the same switch.
std::vector<Group> GroupByNetwork(const CageViews& cages) {
  std::vector<Group> groups;
  std::map<std::string, Group> before;  // by switch
  for (const auto& [id, cage] : cages) {
    if (!cage.neighbours.cages.empty()) {
      Group heard = cage.neighbours.cages;
      heard.insert(id);
      Absorb(std::move(heard), groups);
    }
    for (const std::string& chassis : cage.neighbours.switches) before[chassis].insert(id);
  }
  for (auto& [chassis, group] : before) Absorb(std::move(group), groups);
  return groups;
}

// Where most of the declared cages are, the first by the manifest's order in a tie; empty when no
// two of them are together.
Group FindSwitch(const std::vector<Group>& networks, const std::vector<CageId>& declared) {
  Group best;
  std::size_t most = 1;
  for (const CageId& cage : declared) {
    for (const Group& group : networks) {
      if (!group.contains(cage)) continue;
      const auto members = static_cast<std::size_t>(
          std::count_if(declared.begin(), declared.end(),
                        [&](const CageId& other) { return group.contains(other); }));
      if (members <= most) continue;
      most = members;
      best = group;
    }
  }
  return best;
}

const CageId* FindCageOfNode(const Group& group, const NodeName& node) {
  for (const CageId& cage : group) {
    if (cage.node == node) return &cage;
  }
  return nullptr;
}

// One cage's verdict by where the others are.
CableVerdict JudgeCage(const ObservedCabling& observed, const Group& there, const CageId& anchor,
                       const CageId& cage, std::vector<std::string>& wrong) {
  CableVerdict verdict{{{cage}, true}, CableState::kUnknown, {}};
  const CageId* sibling = FindCageOfNode(there, cage.node);
  if (there.contains(cage)) {
    verdict.state = CableState::kConfirmed;
    verdict.detail = "on one network with " + FormatPlural(there.size() - 1, "other", "others");
  } else if (sibling != nullptr) {
    verdict.state = CableState::kWrong;
    verdict.detail = DescribeCage(*sibling) + " is on the switch instead";
    wrong.push_back(fmt::format("the cable to the switch is in {} and belongs in its {}",
                                DescribeCage(*sibling), FormatCageNoun(cage)));
  } else if (!there.empty() && !observed.At(cage).neighbours.cages.empty()) {
    verdict.state = CableState::kWrong;
    verdict.detail = DescribeCage(cage) + " finds " + observed.DescribeNeighbours(cage);
    wrong.push_back(fmt::format("{} should be on the switch with {}, and finds {} instead",
                                DescribeCage(cage), DescribeCage(anchor),
                                observed.DescribeNeighbours(cage)));
  } else {
    const std::string who = observed.DescribeNeighbours(cage);
    verdict.detail = who.empty() ? observed.ExplainNoNeighbour({cage})
                                 : fmt::format("{} finds only {}", DescribeCage(cage), who);
  }
  return verdict;
}

// The switch and port of the manifest against those that LLDP names.
void JudgePlug(const ObservedCabling& observed, const DeclaredCable& cable, CableVerdict& verdict,
               std::vector<std::string>& wrong) {
  const CageId& cage = verdict.cable.ends.front();
  const auto declared = cable.plugs.find(cage.node);
  if (declared == cable.plugs.end() || verdict.state == CableState::kWrong) return;
  const PlugVerdict seen = ComparePlug(cable, declared->second, observed.At(cage).neighbours.plugs);
  switch (seen.state) {
    case CableState::kUnknown:
      return;
    case CableState::kConfirmed:
      verdict.detail =
          verdict.state == CableState::kConfirmed
              ? fmt::format("{}, in {} by LLDP", verdict.detail, DescribePlug(declared->second))
              : fmt::format("in {} by LLDP", DescribePlug(declared->second));
      verdict.state = CableState::kConfirmed;
      return;
    case CableState::kWrong:
      verdict.state = CableState::kWrong;
      verdict.detail = fmt::format("{} is in {}", DescribeCage(cage), DescribePlug(seen.plug));
      wrong.push_back(fmt::format("{} is in {}, the manifest has {}", DescribeCage(cage),
                                  DescribePlug(seen.plug), DescribePlug(declared->second)));
      return;
  }
}

}  // namespace

std::vector<CableVerdict> JudgeSwitch(const ObservedCabling& observed, const DeclaredCable& cable,
                                      std::vector<std::string>& wrong) {
  const Group there = FindSwitch(GroupByNetwork(observed.cages()), cable.ends);
  const auto anchor = std::find_if(cable.ends.begin(), cable.ends.end(),
                                   [&](const CageId& cage) { return there.contains(cage); });
  std::vector<CableVerdict> verdicts;
  for (const CageId& cage : cable.ends) {
    CableVerdict verdict =
        JudgeCage(observed, there, anchor != cable.ends.end() ? *anchor : cage, cage, wrong);
    JudgePlug(observed, cable, verdict, wrong);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

}  // namespace reconciler
