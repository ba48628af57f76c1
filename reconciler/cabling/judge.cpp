#include "reconciler/cabling/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "reconciler/cabling/judge_cable.h"
#include "reconciler/cabling/judge_switch.h"
#include "reconciler/cabling/misplugged.h"

namespace reconciler {

CablingReport JudgeCabling(const ClusterSpec& cluster, const CablingViews& views) {
  const ObservedCabling observed(cluster, views);
  CablingReport report;
  std::vector<std::string> at_the_switch;
  const auto in_question = [&](const CageId& end) { return views.contains(end.node); };
  for (DeclaredCable& cable : ListDeclaredCables(cluster)) {
    if (cable.is_switch) std::erase_if(cable.ends, std::not_fn(in_question));
    if (std::none_of(cable.ends.begin(), cable.ends.end(), in_question)) continue;
    if (!cable.is_switch) {
      report.cables.push_back(JudgeCable(observed, cable));
      continue;
    }
    std::vector<CableVerdict> cages = JudgeSwitch(observed, cable, at_the_switch);
    std::move(cages.begin(), cages.end(), std::back_inserter(report.cables));
  }
  report.wrong = NameMisplugged(observed, report.cables);
  std::move(at_the_switch.begin(), at_the_switch.end(), std::back_inserter(report.wrong));
  return report;
}

std::string DescribeCable(const DeclaredCable& cable) {
  if (cable.is_switch) return FormatCageShort(cable.ends.front()) + " – switch";
  return fmt::format("{} – {}", FormatCageShort(cable.ends[0]), FormatCageShort(cable.ends[1]));
}

std::string_view ToString(CableState state) {
  switch (state) {
    case CableState::kConfirmed:
      return "confirmed";
    case CableState::kWrong:
      return "wrong";
    case CableState::kUnknown:
      return "not known";
  }
  return {};
}

}  // namespace reconciler
