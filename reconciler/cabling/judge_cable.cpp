#include "reconciler/cabling/judge_cable.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// One end of a cable, and whom it sees.
struct End {
  const CageId& cage;
  const CageView& view;
  bool finds;       // the other end
  bool finds_else;  // somebody, and not the other end
};

End Look(const CabledWorld& world, const CageId& cage, const CageId& other) {
  const CageView& view = world.At(cage);
  const bool finds = view.sight.cages.contains(other);
  return {cage, view, finds, !finds && !view.sight.Empty()};
}

// Whether what one end sees excludes the other end. A stranger alone does so only where the other
// end would have answered.
bool Excludes(const End& end, const End& other) {
  if (!end.finds_else) return false;
  return !end.view.sight.cages.empty() || end.view.sight.by_lldp || other.view.can_be_heard;
}

std::string Confirmation(const End& a, const End& b) {
  std::string text = a.finds && b.finds ? "found from both ends"
                     : a.finds          ? fmt::format("found from {}", CageWords(a.cage))
                                        : fmt::format("found from {}", CageWords(b.cage));
  if ((a.finds && a.view.sight.by_lldp) || (b.finds && b.view.sight.by_lldp)) text += " by LLDP";
  if (a.view.sight.cages.size() > 1 || b.view.sight.cages.size() > 1) {
    text += ", among others: there is a switch between them";
  }
  return text;
}

std::string Findings(const CabledWorld& world, const End& a, const End& b) {
  std::vector<std::string> parts;
  for (const End* end : {&a, &b}) {
    if (end->view.sight.Empty()) continue;
    parts.push_back(fmt::format("{} finds {}", CageWords(end->cage), world.WhoIsAt(end->cage)));
  }
  return Join(parts, ", ");
}

}  // namespace

CableVerdict JudgeCable(const CabledWorld& world, const DeclaredCable& cable) {
  const End a = Look(world, cable.ends[0], cable.ends[1]);
  const End b = Look(world, cable.ends[1], cable.ends[0]);
  if ((a.finds && b.finds_else) || (b.finds && a.finds_else)) {
    return {cable, CableState::kUnknown,
            "the two ends contradict each other: " + Findings(world, a, b)};
  }
  if (a.finds || b.finds) return {cable, CableState::kConfirmed, Confirmation(a, b)};
  if (Excludes(a, b) || Excludes(b, a)) {
    return {cable, CableState::kWrong, Findings(world, a, b)};
  }
  std::vector<CageId> blind;
  for (const End* end : {&a, &b}) {
    if (end->view.sight.Empty()) blind.push_back(end->cage);
  }
  const std::string found = Findings(world, a, b);
  const std::string why = world.WhyNobody(blind);
  return {cable, CableState::kUnknown, found + (found.empty() || why.empty() ? "" : ", ") + why};
}

}  // namespace reconciler
